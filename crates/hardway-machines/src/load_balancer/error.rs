//! What can go wrong between us and HAProxy.

use std::io;
use std::path::PathBuf;

use super::State;

/// Why a member could not be switched.
#[derive(Debug, thiserror::Error)]
pub enum LoadBalancerError {
    /// No answer on the socket.
    #[error("HAProxy does not answer on its administration socket {}", socket.display())]
    Unreachable {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The list of members is not one.
    #[error("HAProxy's list of members cannot be read: {line:?}")]
    NotAList {
        /// The line that was not understood.
        line: String,
    },
    /// HAProxy answered with a complaint.
    #[error("HAProxy refused `{command}`: {answer}")]
    Refused {
        /// What it was told.
        command: String,
        /// What it said.
        answer: String,
    },
    /// HAProxy said yes, and did something else.
    #[error("{member} is {found} after HAProxy was told to take it out")]
    NotTaken {
        /// The service and the host.
        member: String,
        /// What it says.
        found: State,
    },
}
