//! Telling how far a download is. Showing it is the program's business.

/// Told about every blob that is fetched or copied.
pub trait Progress: Send + Sync {
    /// So many of a blob's bytes are here. Called often; a blob that was in the cache is told once, as whole.
    fn bytes(&self, name: &str, done: u64, total: u64);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn bytes(&self, _name: &str, _done: u64, _total: u64) {}
}
