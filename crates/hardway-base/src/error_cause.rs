//! What lies at the bottom of an error.

use std::error::Error;
use std::io;

/// The error of that type at the bottom. An `io::Error` hides what it wraps from its `source()`.
pub fn error_cause<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let inner: Option<&(dyn Error + 'static)> = match error.downcast_ref::<io::Error>() {
        Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    };
    inner.and_then(error_cause).or_else(|| error.downcast_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("not sent")]
    struct NotSent(#[source] io::Error);

    #[test]
    fn what_an_io_error_wraps_is_found() {
        let error = NotSent(io::Error::other(io::Error::from(io::ErrorKind::ConnectionRefused)));
        let found = error_cause::<io::Error>(&error).unwrap();
        assert_eq!(found.kind(), io::ErrorKind::ConnectionRefused);
        assert!(error_cause::<std::fmt::Error>(&error).is_none());
    }
}
