//! Taking connections, a bounded number at a time.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// An address that is taken, before the first connection is.
#[derive(Debug)]
pub struct BoundListener {
    listener: TcpListener,
    address: SocketAddr,
    ending: CancellationToken,
}

/// Takes connections until it ends or is dropped.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    ending: CancellationToken,
    connections: TaskTracker,
}

/// After a connection could not be taken.
const PAUSE: Duration = Duration::from_millis(50);

impl BoundListener {
    /// Port 0 is any that is free.
    ///
    /// # Errors
    /// When the address is taken, or not one of this host.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, ending: CancellationToken::new() })
    }

    /// With the port that was given out.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// For whoever serves a connection: cancelled when the listener ends.
    pub fn ending(&self) -> CancellationToken {
        self.ending.clone()
    }

    /// Takes connections, and no more than so many at a time. Must run inside an async runtime.
    pub fn serve<F>(
        self,
        places: usize,
        connection: impl Fn(TcpStream, SocketAddr) -> F + Send + 'static,
    ) -> Listener
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Self { listener, address, ending } = self;
        let connections = TaskTracker::new();
        tokio::spawn(accept(listener, places, ending.clone(), connections.clone(), connection));
        Listener { address, ending, connections }
    }
}

impl Listener {
    /// Where it listens, with the port that was given out.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, waits that long for those that are under way, and returns.
    pub async fn end(self, drain: Duration) {
        self.ending.cancel();
        self.connections.close();
        let _ = timeout(drain, self.connections.wait()).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.ending.cancel();
    }
}

async fn accept<F>(
    listener: TcpListener,
    places: usize,
    ending: CancellationToken,
    connections: TaskTracker,
    connection: impl Fn(TcpStream, SocketAddr) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(places));
    loop {
        let accepted = tokio::select! {
            accepted = async {
                let place = places.clone().acquire_owned().await;
                (place, listener.accept().await)
            } => accepted,
            () = ending.cancelled() => return,
        };
        let (Ok(place), Ok((stream, source))) = accepted else {
            // Out of file descriptors, mostly: others will be closed soon.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let connection = connection(stream, source);
        connections.spawn(async move {
            connection.await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Says hello, and stays until the other side has gone.
    async fn greet(mut stream: TcpStream) {
        let _ = stream.write_all(b"hello").await;
        let _ = stream.read(&mut [0]).await;
    }

    async fn greeting(stream: &mut TcpStream) -> [u8; 5] {
        let mut heard = [0; 5];
        stream.read_exact(&mut heard).await.unwrap();
        heard
    }

    #[tokio::test]
    async fn nobody_is_let_in_beyond_the_last_place() {
        let bound = BoundListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let listener = bound.serve(1, |stream, _| greet(stream));
        let mut first = TcpStream::connect(listener.address()).await.unwrap();
        assert_eq!(greeting(&mut first).await, *b"hello");
        let mut second = TcpStream::connect(listener.address()).await.unwrap();
        assert!(timeout(PAUSE, second.readable()).await.is_err(), "the only place is taken");
        drop(first);
        assert_eq!(greeting(&mut second).await, *b"hello");
    }

    #[tokio::test]
    async fn an_ended_listener_lets_go_of_its_port() {
        let bound = BoundListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, ending) = (bound.address(), bound.ending());
        let listener = bound.serve(1, move |_, _| {
            let ending = ending.clone();
            async move { ending.cancelled().await }
        });
        let client = TcpStream::connect(address).await.unwrap();
        listener.end(Duration::from_secs(60)).await;
        drop(client);
        while BoundListener::bind(address).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
