//! Errors of the API client: as one sentence, with the cause that matters; and answers that only look like errors.

pub use hardway_base::error_sentence as sentence;

/// Why one question to the API server has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// It refuses, or cannot be reached.
    #[error("{}", sentence(.0))]
    Api(Box<kube::Error>),
    /// It took too long.
    #[error("no answer")]
    Late,
}

impl From<kube::Error> for Unanswered {
    fn from(error: kube::Error) -> Self {
        Self::Api(Box::new(error))
    }
}

impl From<tokio::time::error::Elapsed> for Unanswered {
    fn from(_: tokio::time::error::Elapsed) -> Self {
        Self::Late
    }
}

/// An object of a kind that the API server does not know is absent, like one that nobody made. Such an answer has no reason
/// that says so, only the code.
pub fn unless_absent<T>(answer: kube::Result<Option<T>>) -> kube::Result<Option<T>> {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        answer => answer,
    }
}
