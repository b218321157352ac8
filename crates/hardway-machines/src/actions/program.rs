//! A command line, as it is run and as it is shown.

use std::fmt;

use hardway_base::shell_word;
use serde::{Deserialize, Serialize};

/// One call of a program. What it is given may not be secret: it is journaled, printed and seen by `ps`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Program {
    /// Name or path.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it reads from standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

impl Program {
    /// A program and its arguments.
    pub fn new<A: Into<String>>(program: impl Into<String>, arguments: impl IntoIterator<Item = A>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            input: None,
        }
    }

    /// With words separated by spaces; for calls in which no argument holds one.
    pub fn words(line: &str) -> Self {
        let mut words = line.split_whitespace();
        Self::new(words.next().unwrap_or_default(), words)
    }

    /// With more arguments.
    pub fn with<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// With something to read.
    pub fn reading(mut self, input: impl Into<String>) -> Self {
        self.input = Some(input.into());
        self
    }
}

/// As a shell takes it.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(input) = &self.input {
            write!(f, "printf %s {} | ", shell_word(input))?;
        }
        f.write_str(&shell_word(&self.program))?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", shell_word(argument)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_would_read_it_back() {
        let program = Program::words("ip netns add lab").with(["it's", "", "a b", "$HOME"]);
        assert_eq!(program.to_string(), r"ip netns add lab 'it'\''s' '' 'a b' '$HOME'");
        let reading = Program::words("virsh define /dev/stdin").reading("<domain/>\n");
        assert_eq!(reading.to_string(), "printf %s '<domain/>\n' | virsh define /dev/stdin");
    }
}
