//! Who listens where on this host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A socket that takes what comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) protocol: Protocol,
    pub(super) address: IpAddr,
    pub(super) port: u16,
    /// The kernel's number of the socket, by which its process is found.
    pub(super) inode: u64,
}

/// Which kind of port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Tcp,
    Udp,
}

impl Protocol {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        }
    }
}

impl Listener {
    pub(super) fn all() -> Vec<Self> {
        let tables = [
            ("/proc/net/tcp", Protocol::Tcp),
            ("/proc/net/tcp6", Protocol::Tcp),
            ("/proc/net/udp", Protocol::Udp),
            ("/proc/net/udp6", Protocol::Udp),
        ];
        let read = |(path, protocol)| {
            let text = fs_err::read_to_string(path).unwrap_or_default();
            text.lines().filter_map(|line| Self::of(line, protocol)).collect::<Vec<_>>()
        };
        tables.into_iter().flat_map(read).collect()
    }

    /// `0: 00000000:192B 00000000:0000 0A …`: state 0A listens, 07 is a UDP socket without a peer.
    fn of(line: &str, protocol: Protocol) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let state = match protocol {
            Protocol::Tcp => "0A",
            Protocol::Udp => "07",
        };
        let (address, port) = words.get(1)?.split_once(':')?;
        if *words.get(3)? != state {
            return None;
        }
        let inode = words.get(9)?.parse().ok()?;
        Some(Self { protocol, address: read(address)?, port: u16::from_str_radix(port, 16).ok()?, inode })
    }

    /// The name of its process and its number, if this user may see it.
    pub(super) fn owner(&self) -> Option<(String, u32)> {
        let wanted = format!("socket:[{}]", self.inode);
        for process in fs_err::read_dir("/proc").ok()?.flatten() {
            let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let Ok(files) = fs_err::read_dir(process.path().join("fd")) else { continue };
            let is_it = |file: std::io::Result<fs_err::DirEntry>| {
                file.and_then(|file| fs_err::read_link(file.path()))
                    .is_ok_and(|target| target.as_os_str() == wanted.as_str())
            };
            if files.into_iter().any(is_it) {
                let name = fs_err::read_to_string(process.path().join("comm")).ok()?;
                return Some((name.trim().to_owned(), id));
            }
        }
        None
    }
}

/// An address as words of a little-endian machine.
fn read(digits: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(digits.get(at..at + 8)?, 16).ok()?.swap_bytes());
    match digits.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(word(0)?))),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let number = words.iter().fold(0u128, |number, word| number << 32 | u128::from(*word));
            Some(IpAddr::V6(Ipv6Addr::from(number)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_kernels_tables() {
        let line = "   0: 0100007F:192B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0";
        let found = Listener::of(line, Protocol::Tcp).unwrap();
        assert_eq!((found.address.to_string().as_str(), found.port, found.inode), ("127.0.0.1", 6443, 4711));
        assert_eq!(Listener::of(&line.replace(" 0A ", " 01 "), Protocol::Tcp), None);
        assert_eq!(read("00000000000000000000000001000000").unwrap().to_string(), "::1");
        assert_eq!(read("000000fd00000000000000000a000000").unwrap().to_string(), "fd00::a");
    }

    #[test]
    fn a_listener_is_found_with_its_process() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let found = Listener::all()
            .into_iter()
            .find(|listener| listener.port == port && listener.protocol == Protocol::Tcp);
        assert_eq!(found.unwrap().owner().unwrap().1, std::process::id());
    }
}
