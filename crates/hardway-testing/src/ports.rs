//! Ports for servers that cannot be told to take any free one.

use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// A port of loopback for a server that is about to start.
///
/// Nobody else is given it for a minute: a connection to it has just been closed from this end, and until the kernel has
/// forgotten that, only whoever asks for this very port (with `SO_REUSEADDR`, as servers do) gets it.
///
/// # Panics
/// When loopback is not up.
pub fn free_port() -> u16 {
    let [port] = free_ports();
    port
}

/// Several that differ.
///
/// # Panics
/// When loopback is not up.
pub fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let held = [(); COUNT].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    held.map(|listener| {
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        let (server, _) = listener.accept().unwrap();
        // Who closes first is who the kernel keeps the port for.
        drop(server);
        let _ = client.read(&mut [0]);
        address.port()
    })
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::free_port;

    #[test]
    fn a_port_is_kept_for_who_asks_for_it() {
        let port = free_port();
        for _ in 0..2000 {
            let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let address = other.local_addr().unwrap();
            assert_ne!(address.port(), port);
            let client = TcpStream::connect(address).unwrap();
            assert_ne!(client.local_addr().unwrap().port(), port);
        }
        assert_eq!(
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap().local_addr().unwrap().port(),
            port
        );
    }
}
