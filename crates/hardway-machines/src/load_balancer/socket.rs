//! One command to HAProxy's administration socket, and its answer.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::LoadBalancerError;

/// HAProxy answers at once, or not at all: a stopped process still has a socket that takes connections.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks, and reads until HAProxy hangs up, as it does after each command that is not `prompt`.
pub(super) fn ask(socket: &Path, command: &str) -> Result<String, LoadBalancerError> {
    let talk = || {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(format!("{command}\n").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    talk().map_err(|source| LoadBalancerError::Unreachable { socket: socket.to_owned(), source })
}
