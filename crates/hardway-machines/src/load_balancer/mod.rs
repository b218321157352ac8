//! Members of the load balancer, taken in and out while it runs.
//!
//! ```text
//! take_out(), bring_in()    one host, wherever it is a member; read back                     mod.rs
//! Server, servers()         what HAProxy says of each member                                 server.rs
//! ask()                     one command to HAProxy's administration socket, and its answer    socket.rs
//! changes()                 the same for a load balancer of somebody else's, as a table       changes.rs
//! ```
//!
//! HAProxy's own words are in its management guide (haproxy/haproxy doc/management.txt, "Unix Socket commands").

mod changes;
mod error;
mod server;
mod socket;

use std::path::Path;

pub use changes::{Change, changes, table};
pub use error::LoadBalancerError;
pub use server::{Server, State, servers};

/// Gives a host no more connections, and ends those it has, so that their clients turn to the others. Connections to
/// other members go on. Twice is fine, and so is a host that is no member: it is out.
///
/// # Errors
/// When HAProxy cannot be reached, refuses, or says something else afterwards.
pub fn take_out(socket: &Path, host: &str) -> Result<(), LoadBalancerError> {
    // Not `drain`: watches last for hours, and would end with the machine, without a word to their clients.
    match set_state(socket, host, State::Maintenance) {
        Err(LoadBalancerError::NoMember { .. }) => Ok(()),
        result => result,
    }
}

/// Lets a host have connections whenever its health check says that it is well. Twice is fine.
///
/// # Errors
/// When HAProxy cannot be reached, has no such member, refuses, or says something else afterwards.
pub fn bring_in(socket: &Path, host: &str) -> Result<(), LoadBalancerError> {
    set_state(socket, host, State::Ready)
}

/// Puts a host into a state wherever it is a member, and reads it back.
///
/// # Errors
/// When HAProxy cannot be reached, has no such member, refuses, or says something else afterwards.
pub fn set_state(socket: &Path, host: &str, state: State) -> Result<(), LoadBalancerError> {
    let of_host = || -> Result<Vec<Server>, LoadBalancerError> {
        Ok(servers(socket)?.into_iter().filter(|server| server.name == host).collect())
    };
    let members = of_host()?;
    if members.is_empty() {
        return Err(LoadBalancerError::NoMember { host: host.to_owned(), socket: socket.to_owned() });
    }
    for member in members {
        let command = format!("set server {}/{} state {}", member.service, member.name, state.word());
        let answer = socket::ask(socket, &command)?;
        if !answer.trim().is_empty() {
            return Err(LoadBalancerError::Refused { command, answer: answer.trim().to_owned() });
        }
    }
    match of_host()?.into_iter().find(|member| member.state != state) {
        None => Ok(()),
        Some(member) => Err(LoadBalancerError::NotTaken {
            member: format!("{}/{}", member.service, member.name),
            wanted: state,
            found: member.state,
        }),
    }
}
