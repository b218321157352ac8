//! A stand-in for a member: listens at its address, is well, and answers with our words.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};

use super::identity::Identity;

/// Listens until dropped.
pub(super) struct Backend {
    is_over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

/// For a client that connects and says nothing, as some health checks do.
const SILENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

impl Backend {
    /// Begins to listen.
    pub(super) fn start(at: SocketAddr, is_tls: bool, identity: &Arc<Identity>) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, identity) = (Arc::clone(&is_over), Arc::clone(identity));
        let listening = thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => serve(stream, is_tls, &identity),
                    Err(_) => thread::sleep(PAUSE),
                }
            }
        });
        Ok(Self { is_over, listening: Some(listening) })
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.listening.take().map(JoinHandle::join);
    }
}

/// Each client has a thread of its own, which ends with it or by its silence.
fn serve(stream: TcpStream, is_tls: bool, identity: &Arc<Identity>) {
    let identity = Arc::clone(identity);
    thread::spawn(move || {
        // A client that breaks off is no concern of ours.
        let _ = answer(stream, is_tls, &identity);
    });
}

fn answer(stream: TcpStream, is_tls: bool, identity: &Identity) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    if !is_tls {
        return exchange(&mut &stream, &identity.words);
    }
    let connection = ServerConnection::new(Arc::clone(&identity.server)).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    exchange(&mut stream, &identity.words)?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Reads a request, whatever it is, and says that all is well.
fn exchange(stream: &mut (impl Read + Write), words: &str) -> io::Result<()> {
    let mut request: Vec<u8> = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < 1 << 16 {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            length => request.extend(&buffer[..length]),
        }
    }
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{words}", words.len())?;
    stream.flush()
}
