//! Small things about text: what strangers wrote where people read it (names that anybody chose, answers of servers, messages of
//! other people's programs), counted things, and words for a shell.

/// Whether a character does something else than to be read: moves the cursor, ends a line, or hides or turns what stands beside it.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
}

/// The text in one line, with a mark where something could not be shown.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// `1 file`, `2 files`: for nouns that take an s.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Quoted for a POSIX shell, only where it needs to be.
pub fn shell_word(word: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@,+%".contains(&b);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
