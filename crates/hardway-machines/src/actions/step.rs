//! What can be done to a host.

use std::fmt;
use std::path::PathBuf;

use hardway_base::shell_word;
use serde::{Deserialize, Serialize};

use super::Program;

/// One change. Every step can be done twice.
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
