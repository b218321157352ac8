//! What a console said, as text: a console is a terminal, and takes orders in between.

/// As many as a person looks at.
const LINES: usize = 40;
/// Longer ones are a dump of something.
const WIDTH: usize = 400;

/// The last lines that say something, without anything that only a terminal understands.
pub(crate) fn last_lines(printed: &str) -> Vec<String> {
    let text = plain(printed);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(LINES);
    lines[from..].iter().map(|line| line.chars().take(WIDTH).collect()).collect()
}

/// Escape sequences (ECMA-48: `ESC [ … letter`, `ESC ] … BEL`, `ESC x`) and other control characters are left out; a carriage return
/// alone begins the line anew.
fn plain(printed: &str) -> String {
    let mut text = String::with_capacity(printed.len());
    let mut letters = printed.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                Some('[') => _ = letters.find(|letter| ('@'..='~').contains(letter)),
                Some(']') => _ = letters.find(|letter| ['\u{7}', '\\'].contains(letter)),
                _ => {}
            },
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => text.truncate(text.rfind('\n').map_or(0, |end| end + 1)),
            '\n' | '\t' => text.push(letter),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_terminal_understands_is_left_out() {
        let printed = "\u{1b}[2J\u{1b}[1;1H[\u{1b}[0;32m  OK  \u{1b}[0m] Started \u{1b}]0;title\u{7}kubelet.\r\n 10%\r 50%\r100%\n\u{0}\n\tend\u{8}";
        assert_eq!(last_lines(printed), ["[  OK  ] Started kubelet.", "100%", "\tend"]);
    }

    #[test]
    fn only_the_end_is_kept() {
        let printed: String = (0..100).map(|number| format!("line {number}\n")).collect();
        let lines = last_lines(&printed);
        assert_eq!((lines.len(), lines[0].as_str(), lines[39].as_str()), (40, "line 60", "line 99"));
        assert_eq!(last_lines(&"x".repeat(5000))[0].len(), 400);
        assert!(last_lines("\n\n \r\n").is_empty());
    }
}
