//! etcd's database file, read here and changed nowhere.
//!
//! A snapshot is such a file with the SHA-256 of it behind (etcd-io/etcd `server/etcdserver/api/v3rpc/maintenance.go`). It is read without etcd's help,
//! so that a copy can be held against what it was made from.
//!
//! ```text
//! Pages      the tree of pages (etcd-io/bbolt `page.go`, `bucket.go`)   pages.rs
//! Contents   revision, hash, and every key that lives in it             contents.rs
//! ```

mod contents;
mod pages;

pub use contents::{Contents, KeyVersion};

/// Why a file is no database of etcd.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It cannot be read.
    #[error("it cannot be read")]
    Io(#[from] std::io::Error),
    /// It does not begin as such a file does.
    #[error("it is not an etcd database: neither of its first two pages is a valid header")]
    NotOne,
    /// A page makes no sense.
    #[error("page {0} is damaged")]
    Page(u64),
    /// It has not the sum behind it that it was sent with.
    #[error("its SHA-256 is not the one that etcd appended to it: it is truncated or damaged")]
    Sum,
    /// A part is missing that etcd always writes.
    #[error("it contains no keys: it is not an etcd database")]
    NoKeys,
    /// A key or value is not as etcd writes it.
    #[error("the entry of revision {0} is invalid")]
    Entry(u64),
}

/// Files that are none, and are refused. A good one is read beside the real etcdutl, in `tests/real_api`.
#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn refused(bytes: &[u8], with_sum: bool) -> DatabaseError {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        if with_sum {
            file.write_all(&Sha256::digest(bytes)).unwrap();
        }
        Contents::of_snapshot(&mut file).unwrap_err()
    }

    #[test]
    fn what_is_no_snapshot_is_refused() {
        assert!(matches!(refused(b"", false), DatabaseError::Sum));
        assert!(matches!(refused(&[7; 4096], false), DatabaseError::Sum));
        assert!(matches!(refused(&[7; 4096], true), DatabaseError::NotOne));
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..9000)) {
            let mut bytes = bytes;
            bytes.resize(bytes.len().next_multiple_of(512), 0);
            refused(&bytes, true);
        }
    }
}
