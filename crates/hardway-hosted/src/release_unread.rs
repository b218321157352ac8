//! Why a release could not be looked into.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use hardway_base::error_sentence;

/// As whoever looked says. Cheap to keep, and to give out again.
#[derive(Clone, Debug)]
pub struct ReleaseUnread(Arc<dyn Error + Send + Sync>);

impl ReleaseUnread {
    /// For this reason.
    pub fn new(why: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(why))
    }
}

impl fmt::Display for ReleaseUnread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&error_sentence(&*self.0))
    }
}

impl Error for ReleaseUnread {}
