//! Telling how far a download is. Showing it is the program's business.

/// Told about every blob that is fetched or copied.
pub trait DownloadProgress: Send + Sync {
    /// So many of a blob's bytes are here. Called often.
    fn bytes(&self, name: &str, done: u64, total: u64);

    /// A blob that was there already.
    fn kept(&self, _name: &str, _total: u64) {}
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl DownloadProgress for Silent {
    fn bytes(&self, _name: &str, _done: u64, _total: u64) {}
}

/// The blobs of one image of several, told with its name.
pub(crate) struct OfImage<'p> {
    pub(crate) image: &'p str,
    pub(crate) progress: &'p dyn DownloadProgress,
}

impl DownloadProgress for OfImage<'_> {
    fn bytes(&self, name: &str, done: u64, total: u64) {
        self.progress.bytes(&format!("{} {name}", self.image), done, total);
    }

    fn kept(&self, name: &str, total: u64) {
        self.progress.kept(&format!("{} {name}", self.image), total);
    }
}
