//! A piece of a bundle while it is sent: a gigabyte costs a buffer.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

use super::Pulse;
use crate::bundle::read::Extent;

/// What is sent.
pub(super) enum ExtentBody {
    Bytes(Option<Bytes>),
    Extent {
        /// What is left of it.
        rest: Extent,
        reading: Option<JoinHandle<io::Result<Bytes>>>,
        pulse: Pulse,
    },
}

/// How much is read at once.
const PIECE: u64 = 256 << 10;

impl ExtentBody {
    pub(super) fn nothing() -> Self {
        Self::Bytes(None)
    }

    pub(super) fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self::Bytes(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty()))
    }

    pub(super) fn extent(rest: Extent, pulse: Pulse) -> Self {
        Self::Extent { rest, reading: None, pulse }
    }
}

impl Body for ExtentBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let (rest, reading, pulse) = match &mut *self {
            Self::Bytes(bytes) => return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Extent { rest, reading, pulse } => (rest, reading, pulse),
        };
        if rest.size == 0 {
            return Poll::Ready(None);
        }
        pulse.beat();
        let task = reading.get_or_insert_with(|| {
            let next = rest.clone();
            tokio::task::spawn_blocking(move || read(&next))
        });
        let read = ready!(Pin::new(task).poll(context));
        *reading = None;
        let bytes = read.map_err(io::Error::other)??;
        rest.offset += bytes.len() as u64;
        rest.size -= bytes.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_none(),
            Self::Extent { rest, .. } => rest.size == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Bytes(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Self::Extent { rest, .. } => rest.size,
        })
    }
}

fn read(extent: &Extent) -> io::Result<Bytes> {
    let mut piece = vec![0; usize::try_from(extent.size.min(PIECE)).map_err(io::Error::other)?];
    extent.file.read_exact_at(&mut piece, extent.offset)?;
    Ok(piece.into())
}
