//! An error with its causes, in one line.

use std::error::Error;

/// The error and all that led to it. Some errors quote their cause themselves; it is not said twice.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Failed {
        #[error("no answer")]
        Silent(#[source] io::Error),
        #[error("no list: {0}")]
        Quoting(#[source] Box<Failed>),
    }

    #[test]
    fn every_cause_is_said_once() {
        let silent = || Failed::Silent(io::Error::other("refused"));
        assert_eq!(chain(&silent()), "no answer: refused");
        assert_eq!(chain(&Failed::Quoting(Box::new(silent()))), "no list: no answer: refused");
    }
}
