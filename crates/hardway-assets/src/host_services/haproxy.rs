//! The load balancer as a configuration of HAProxy 2.2 or newer.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::{BackendMember, BalancedPort, Health};

/// Where HAProxy's own files lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Haproxy {
    /// Its runtime API: members are switched there without a restart, and asked for their state.
    pub socket: String,
    /// Where its process id is written.
    pub pid_file: String,
    /// Whether it listens on addresses that the host does not have yet: they are where keepalived puts them.
    pub binds_early: bool,
}

/// The whole file.
pub fn haproxy(balanced: &[BalancedPort], files: &Haproxy) -> String {
    let mut text = head(files);
    for service in balanced {
        let _ = write!(text, "\nlisten {}\n", service.name);
        for address in &service.addresses {
            // A bridge without machines has no carrier, and its IPv6 addresses are not to be used until it has.
            let early = if address.is_ipv6() || files.binds_early { " transparent" } else { "" };
            let _ = writeln!(text, "    bind {}{early}", endpoint(*address, service.port));
        }
        if !service.clients.is_empty() {
            let clients: Vec<String> = service.clients.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "    acl machines src {}", clients.join(" "));
            text.push_str("    tcp-request connection reject unless machines\n");
        }
        let balance = if service.is_sticky { "source" } else { "roundrobin" };
        let _ = writeln!(text, "    balance {balance}");
        let Health { port, path, is_tls } = service.health;
        let _ = writeln!(
            text,
            "    option httpchk\n    http-check send meth GET uri {path} ver HTTP/1.1 hdr Host {}",
            service.name
        );
        text.push_str("    http-check expect status 200\n");
        let tls = if is_tls { " check-ssl verify none" } else { "" };
        let _ = writeln!(
            text,
            "    default-server check port {port}{tls} inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions"
        );
        for member in &service.members {
            let _ = writeln!(text, "    {}", server(member, service.port));
        }
    }
    text
}

fn head(files: &Haproxy) -> String {
    let Haproxy { socket, pid_file, binds_early: _ } = files;
    // Watches, logs and exec are silent for long: with the usual minute they would be cut off again and again.
    format!(
        "# Made by hardway.\n\
         global\n    maxconn 4000\n    pidfile {pid_file}\n    stats socket {socket} mode 600 level admin\n\n\
         defaults\n    mode tcp\n    maxconn 3000\n    option dontlognull\n    option redispatch 1\n    retries 3\n    \
         timeout queue 1m\n    timeout connect 2s\n    timeout client 1h\n    timeout server 1h\n    timeout tunnel 1h\n    \
         timeout check 5s\n"
    )
}

fn server(member: &BackendMember, port: u16) -> String {
    let backup = if member.is_backup { " backup" } else { "" };
    format!("server {} {}{backup}", member.name, endpoint(member.address, port))
}

fn endpoint(address: IpAddr, port: u16) -> String {
    match address {
        IpAddr::V4(address) => format!("{address}:{port}"),
        IpAddr::V6(address) => format!("[{address}]:{port}"),
    }
}
