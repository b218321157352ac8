//! What only the operator of a server can mend. Clients are told that something is wrong, and never what.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hardway_base::error_sentence;
use hardway_journal::JournalError;
use tokio::task::JoinError;

/// Tells the operator. It is called while somebody waits for an answer and should not block.
pub type Trouble = Box<dyn Fn(&str) + Send + Sync>;

/// Tells once what is wrong with a thing: machines ask again every few seconds.
pub(crate) struct Troubles {
    tell: Trouble,
    /// What was told last, by the thing it is about.
    told: Mutex<BTreeMap<String, String>>,
}

impl Troubles {
    pub(crate) fn new(tell: Trouble) -> Self {
        Self { tell, told: Mutex::default() }
    }

    /// Something is wrong with a thing; told unless it was so the last time.
    pub(crate) fn tell(&self, thing: &str, what: String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.get(thing) != Some(&what) {
            (self.tell)(&what);
            told.insert(thing.to_owned(), what);
        }
    }

    /// Something happened, and every time is news.
    pub(crate) fn say(&self, what: &str) {
        (self.tell)(what);
    }

    /// It works again: the next time is news.
    pub(crate) fn is_well(&self, thing: &str) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).remove(thing);
    }
}

/// Why a server could not write something into the journal: it is not on disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoteError {
    #[error("{0}")]
    Ended(#[from] JoinError),
    #[error("{}", error_sentence(.0))]
    Journal(#[from] JournalError),
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn news_is_told_and_nothing_else() {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = heard.clone();
        let troubles = Troubles::new(Box::new(move |what| told.lock().unwrap().push(what.to_owned())));
        for (thing, what) in [("a", "full"), ("b", "gone"), ("a", "full"), ("a", "slow"), ("b", "gone")] {
            troubles.tell(thing, what.to_owned());
        }
        troubles.is_well("b");
        troubles.tell("b", "gone".to_owned());
        assert_eq!(*heard.lock().unwrap(), ["full", "gone", "slow", "gone"]);
    }
}
