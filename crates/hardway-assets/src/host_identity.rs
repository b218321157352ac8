//! Who a host is before it is a node: a user of its own, in the client certificate that its config brings.
//!
//! Everybody who reaches port 22623 is given the shared identity of new machines. This one is in the config of one host and
//! nowhere else, so whoever asks with it has that config. A host that is installed again, or let in again, gets the next
//! generation; requests of an older one are worth nothing from then on.

use crate::inventory::{Host, Role};

/// The group of all of them: it may ask for a node's client certificate, and nothing more.
pub const GROUP: &str = "hardway:hosts";

const USER_PREFIX: &str = "hardway:host:";

/// The user of a host's generation.
pub fn user(host: &str, generation: u32) -> String {
    format!("{USER_PREFIX}{host}:{generation}")
}

/// Host and generation of a user; `None` for every other user. No host's name has a colon.
pub fn parse(user: &str) -> Option<(&str, u32)> {
    let (host, generation) = user.strip_prefix(USER_PREFIX)?.rsplit_once(':')?;
    let number: u32 = generation.parse().ok()?;
    // Only as it is written: neither +1 nor 01.
    (!host.is_empty() && !host.contains(':') && number.to_string() == generation).then_some((host, number))
}

/// The name of its certificate and key: `pki/<name>.crt`, `secrets/<name>.key`.
pub fn certificate(host: &str) -> String {
    format!("host-identity-{host}")
}

/// The key that the ssh server of a host shows.
pub fn ssh_host_key(host: &str) -> String {
    format!("ssh-host-{host}")
}

/// Where its kubeconfig lies.
pub fn kubeconfig(host: &str) -> String {
    format!("kubeconfigs/hosts/{host}.kubeconfig")
}

impl Host {
    /// Whether it boots from a config of its own, which can bring what only this host has.
    pub fn has_own_config(&self) -> bool {
        !self.stock_pointer
    }

    /// Whether it boots with an identity of its own. The bootstrap host never is a node, and a stock pointer is the same for
    /// all hosts of a pool.
    pub fn has_identity(&self) -> bool {
        self.role != Role::Bootstrap && self.has_own_config()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_read_back_and_nothing_else_is_one() {
        assert_eq!(user("master-0", 3), "hardway:host:master-0:3");
        for (host, generation) in [("master-0", 1), ("a.b.example.com", 4_294_967_295)] {
            assert_eq!(parse(&user(host, generation)), Some((host, generation)));
        }
        for other in [
            "",
            "hardway:host:",
            "hardway:host:a",
            "hardway:host::1",
            "hardway:host:a:",
            "hardway:host:a:01",
            "hardway:host:a:+1",
            "hardway:host:a:-1",
            "hardway:host:a:4294967296",
            "hardway:host:a:b:1",
            "system:node:a",
            "xhardway:host:a:1",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
