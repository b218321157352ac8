//! Words as a shell takes them.

/// Quoted for a POSIX shell, only where it needs to be.
pub fn shell_word(word: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@,+%".contains(&b);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
