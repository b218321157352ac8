//! One wish of a provider.

use std::path::PathBuf;

use serde::Serialize;

use super::{Program, Step};

/// Something that shall hold on this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// The same in every run, such as `network/bridge`; the journal knows it by this name.
    pub id: String,
    /// What it is for, in a sentence.
    pub why: String,
    /// How to see that it holds.
    pub holds: ActionCheck,
    /// What makes it hold, in order.
    pub does: Vec<Step>,
    /// What takes it back, in order. Files need none: the executor keeps what was there.
    pub undo: Vec<Step>,
}

/// How to see whether an action holds. Looking changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionCheck {
    /// All of them.
    All(Vec<ActionCheck>),
    /// The file has this content and these permissions.
    FileIs {
        /// Where.
        path: PathBuf,
        /// Unix permissions.
        mode: u32,
        /// All of it.
        content: String,
    },
    /// There is a folder.
    FolderExists {
        /// Where.
        path: PathBuf,
    },
    /// The program succeeds, and prints this when anything is asked for.
    Prints {
        /// What to run.
        program: Program,
        /// Must be among the lines of its output, without the space around it.
        line: String,
    },
    /// The program succeeds, and prints anything at all.
    PrintsSomething(Program),
    /// The program succeeds.
    Succeeds(Program),
}

impl Action {
    /// A file with this content.
    pub fn file(
        id: impl Into<String>,
        why: impl Into<String>,
        path: impl Into<PathBuf>,
        content: impl Into<String>,
    ) -> Self {
        let (path, content, mode) = (path.into(), content.into(), 0o644);
        Self {
            id: id.into(),
            why: why.into(),
            holds: ActionCheck::FileIs { path: path.clone(), mode, content: content.clone() },
            does: vec![Step::WriteFile { path, mode, content }],
            undo: Vec::new(),
        }
    }

    /// A folder.
    pub fn folder(id: impl Into<String>, why: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            id: id.into(),
            why: why.into(),
            holds: ActionCheck::FolderExists { path: path.clone() },
            does: vec![Step::MakeFolder { path: path.clone() }],
            undo: vec![Step::RemoveFolder { path }],
        }
    }

    /// What programs make, see and take back.
    pub fn programs(
        id: impl Into<String>,
        why: impl Into<String>,
        holds: ActionCheck,
        does: impl IntoIterator<Item = Program>,
        undo: impl IntoIterator<Item = Program>,
    ) -> Self {
        Self {
            id: id.into(),
            why: why.into(),
            holds,
            does: does.into_iter().map(Step::Run).collect(),
            undo: undo.into_iter().map(Step::Run).collect(),
        }
    }
}
