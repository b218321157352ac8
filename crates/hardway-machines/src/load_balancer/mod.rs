//! Members of the load balancer, taken in and out while it runs.
//!
//! ```text
//! take_out()                one host, wherever it is a member; read back                     mod.rs
//! Server, servers()         what HAProxy says of each member, on its administration socket     server.rs
//! changes()                 the same for a load balancer of somebody else's, as a table       changes.rs
//! ```
//!
//! HAProxy's own words are in its management guide (haproxy/haproxy doc/management.txt, "Unix Socket commands").

mod changes;
mod server;

use std::io;
use std::path::{Path, PathBuf};

pub use changes::{Change, changes, table};
pub use server::{BalancedServer, ServerState, servers};

/// Gives a host no more connections, and ends those it has, so that their clients turn to the others. Connections to
/// other members go on. Twice is fine, and so is a host that is no member: it is out.
///
/// # Errors
/// When HAProxy cannot be reached, refuses, or says something else afterwards.
pub fn take_out(socket: &Path, host: &str) -> Result<(), LoadBalancerError> {
    let of_host = || -> Result<Vec<BalancedServer>, LoadBalancerError> {
        Ok(servers(socket)?.into_iter().filter(|server| server.name == host).collect())
    };
    for member in of_host()? {
        // Not `drain`: watches last for hours, and would end with the machine, without a word to their clients.
        let command = format!("set server {}/{} state maint", member.service, member.name);
        let answer = server::ask(socket, &command)?;
        if !answer.trim().is_empty() {
            return Err(LoadBalancerError::Refused { command, answer: answer.trim().to_owned() });
        }
    }
    match of_host()?.into_iter().find(|member| member.state != ServerState::Maintenance) {
        None => Ok(()),
        Some(member) => Err(LoadBalancerError::NotTaken {
            member: format!("{}/{}", member.service, member.name),
            found: member.state,
        }),
    }
}

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
    #[error("{member} is {found} after it was removed from HAProxy")]
    NotTaken {
        /// The service and the host.
        member: String,
        /// What it says.
        found: ServerState,
    },
}
