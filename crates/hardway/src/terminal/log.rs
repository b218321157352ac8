//! Everything that is shown, and more, in a file that stays.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;

use crate::clock;
use crate::report::{Code, Report};

/// A file that every run appends to.
#[derive(Clone, Debug)]
pub(crate) struct Log(Arc<Mutex<fs::File>>);

impl Log {
    pub(crate) fn open(path: &Path) -> Result<Self, Report> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| unwritable(&error))?;
        }
        let file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        Ok(Self(Arc::new(Mutex::new(file.map_err(|error| unwritable(&error))?))))
    }

    /// One line. A log that cannot be written holds nothing up: the journal is what counts.
    pub(crate) fn line(&self, text: &str) {
        let time = format!("{:.3} ", clock::now());
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for line in text.lines() {
            let _ = writeln!(file, "{time}{line}");
        }
    }
}

fn unwritable(error: &std::io::Error) -> Report {
    Report::from_error(Code::WorkdirUnusable, error)
}
