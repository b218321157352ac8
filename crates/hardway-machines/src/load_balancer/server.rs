//! What HAProxy says of each member, on its administration socket.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::LoadBalancerError;

/// A host as a member of one service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalancedServer {
    /// `api`, `machine-config-server`, `ingress-https`, `ingress-http`.
    pub service: String,
    /// The host.
    pub name: String,
    /// What it was told.
    pub state: ServerState,
    /// Whether its health check says that it is well, and it may have connections. Never while it is out.
    pub is_well: bool,
}

/// What a member was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerState {
    /// It has connections whenever it is well.
    Ready,
    /// It keeps those it has and gets no more.
    Drain,
    /// It has none.
    Maintenance,
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "ready",
            Self::Drain => "draining",
            Self::Maintenance => "out",
        })
    }
}

/// All members, in the order of the configuration.
///
/// # Errors
/// When HAProxy cannot be reached, or says something else than a list.
pub fn servers(socket: &Path) -> Result<Vec<BalancedServer>, LoadBalancerError> {
    read(&ask(socket, "show servers state")?)
}

/// The format is of HAProxy's own, in version 1 since HAProxy 1.6; columns are only ever added at the end.
fn read(answer: &str) -> Result<Vec<BalancedServer>, LoadBalancerError> {
    let bad = |line: &str| LoadBalancerError::NotAList { line: line.to_owned() };
    let mut lines = answer.lines();
    match lines.next().map(str::trim) {
        Some("1") => {}
        other => return Err(bad(other.unwrap_or_default())),
    }
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| server(line).ok_or_else(|| bad(line)))
        .collect()
}

/// `be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state …`.
fn server(line: &str) -> Option<BalancedServer> {
    let columns: Vec<&str> = line.split(' ').collect();
    let [_, service, _, name, _, running, told, ..] = columns[..] else { return None };
    let (running, told): (u8, u8) = (running.parse().ok()?, told.parse().ok()?);
    // Bits of haproxy/haproxy include/haproxy/server-t.h: 0x01 maintenance, 0x08 drain, by an administrator. The others
    // are inherited from another server, or come from names that do not resolve: neither is in our configuration.
    let state = match told {
        told if told & 0x01 != 0 => ServerState::Maintenance,
        told if told & 0x08 != 0 => ServerState::Drain,
        _ => ServerState::Ready,
    };
    // 0 stopped, 1 starting, 2 running, 3 stopping.
    Some(BalancedServer { service: service.to_owned(), name: name.to_owned(), state, is_well: running == 2 })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_bits_and_the_rest_of_a_line_is_not_ours() {
        let head = "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state more\n";
        let one = |running: u8, told: u8| {
            let line =
                format!("{head}3 api 1 bootstrap 192.168.126.100 {running} {told} 1 1 9 15 3 4 6 0\n\n");
            let found = read(&line).unwrap().remove(0);
            assert_eq!((found.service.as_str(), found.name.as_str()), ("api", "bootstrap"));
            (found.state, found.is_well)
        };
        assert_eq!(one(2, 0), (ServerState::Ready, true));
        assert_eq!(one(0, 0), (ServerState::Ready, false));
        assert_eq!(one(0, 5), (ServerState::Maintenance, false));
        assert_eq!(one(3, 8), (ServerState::Drain, false));
        for bad in ["", "2\n", "1\n3 api 1 bootstrap\n", "1\n3 api 1 bootstrap addr two 0 1\n"] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
