//! The files of a release: in a folder, or in memory as they came out of an image.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Where a release's files are.
pub(crate) trait ReleaseFiles {
    /// The bytes of a file; nothing where there is none.
    fn read(&self, path: &str) -> io::Result<Option<Cow<'_, [u8]>>>;

    /// Names of the files directly in a folder (`""` or `crds/`), sorted; none where there is no such folder.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;
}

/// An extracted release.
pub(crate) struct ReleaseFolder<'d>(pub(crate) &'d Path);

impl ReleaseFiles for ReleaseFolder<'_> {
    fn read(&self, path: &str) -> io::Result<Option<Cow<'_, [u8]>>> {
        match fs_err::read(self.0.join(path)) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let entries = match fs_err::read_dir(self.0.join(folder)) {
            Ok(entries) => entries.collect::<io::Result<Vec<_>>>()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let files = entries.iter().filter(|entry| entry.path().is_file());
        let mut names: Vec<_> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }
}

/// Files by path.
pub(crate) struct InMemory<'b>(pub(crate) BTreeMap<String, Cow<'b, [u8]>>);

impl ReleaseFiles for InMemory<'_> {
    fn read(&self, path: &str) -> io::Result<Option<Cow<'_, [u8]>>> {
        Ok(self.0.get(path).map(|bytes| Cow::Borrowed(bytes.as_ref())))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let names = self.0.keys().filter_map(|path| path.strip_prefix(folder));
        Ok(names.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }
}
