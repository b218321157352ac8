//! What was done to the host on which hardway runs, and how to take it back.

use std::fmt;
use std::path::PathBuf;

use hardway_base::shell_word;
use serde::{Deserialize, Serialize};

/// An action is about to be carried out. Written before its first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionStarted {
    /// Its name.
    pub action: String,
    /// What it is for.
    pub why: String,
    /// What will be done, as a person reads it.
    pub does: Vec<String>,
    /// What takes it back. Kept here, because the inventory may say something else by then.
    pub undo: Vec<Step>,
}

/// It holds now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionFinished {
    /// Its name.
    pub action: String,
}

/// It has been taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionUndone {
    /// Its name.
    pub action: String,
}

/// One change. Every step can be done twice. A hardway that does not know a step cannot take it back, and must not pass over
/// it: one more variant here raises [`VERSION`](crate::VERSION).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A folder, and those above it.
    MakeFolder {
        /// Where.
        path: PathBuf,
    },
    /// A folder, if nothing is in it; none is fine.
    RemoveEmptyFolder {
        /// Where.
        path: PathBuf,
    },
    /// A folder with everything in it; none is fine.
    RemoveFolder {
        /// Where.
        path: PathBuf,
    },
    /// A file; none is fine.
    RemoveFile {
        /// Where.
        path: PathBuf,
    },
    /// A file as it was before hardway wrote it.
    RestoreFile {
        /// Where.
        path: PathBuf,
        /// The copy that was kept.
        from: PathBuf,
    },
    /// A program to run.
    Run(Program),
    /// A file with this content.
    WriteFile {
        /// Where.
        path: PathBuf,
        /// Unix permissions.
        mode: u32,
        /// All of it. Never a secret: those are assets, written elsewhere, and named here by path.
        content: String,
    },
}

/// As a shell would do it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |path: &PathBuf| shell_word(&path.display().to_string());
        match self {
            Self::MakeFolder { path } => write!(f, "mkdir -p {}", word(path)),
            Self::RemoveEmptyFolder { path } => {
                write!(f, "[ ! -d {0} ] || rmdir --ignore-fail-on-non-empty {0}", word(path))
            }
            Self::RemoveFolder { path } => write!(f, "rm -rf {}", word(path)),
            Self::RemoveFile { path } => write!(f, "rm -f {}", word(path)),
            Self::RestoreFile { path, from } => write!(f, "cp -p {} {}", word(from), word(path)),
            Self::Run(program) => write!(f, "{program}"),
            Self::WriteFile { path, mode, content } => {
                write!(
                    f,
                    "printf %s {} | install -D -m {mode:04o} /dev/stdin {}",
                    shell_word(content),
                    word(path)
                )
            }
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

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
