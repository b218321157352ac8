//! A body that is read from a file while it is sent, so that a gigabyte costs a buffer.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};
use tokio::fs::File;
use tokio::io::{AsyncRead as _, AsyncSeekExt as _, ReadBuf};

/// What is sent.
pub(crate) struct FileBody {
    first: Option<Bytes>,
    rest: Option<File>,
    left: u64,
}

/// How much is read at once.
const PIECE: usize = 256 << 10;

impl FileBody {
    /// Nothing.
    pub(crate) fn empty() -> Self {
        Self { first: None, rest: None, left: 0 }
    }

    /// A text in one piece.
    pub(crate) fn whole(text: String) -> Self {
        let left = text.len() as u64;
        Self { first: Some(Bytes::from(text)).filter(|bytes| !bytes.is_empty()), rest: None, left }
    }

    /// A file, and its length. Bytes that are added later are not sent: the length was promised.
    pub(crate) async fn open(path: &Path) -> io::Result<(Self, u64)> {
        let file = File::open(path).await?;
        let left = file.metadata().await?.len();
        Ok((Self { first: None, rest: Some(file), left }, left))
    }

    /// A piece of a file.
    pub(crate) async fn open_at(path: &Path, first: u64, left: u64) -> io::Result<Self> {
        let mut file = File::open(path).await?;
        file.seek(io::SeekFrom::Start(first)).await?;
        Ok(Self { first: None, rest: Some(file), left })
    }
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.first.take() {
            self.left = 0;
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        let wanted = usize::try_from(self.left).unwrap_or(PIECE).min(PIECE);
        let Some(file) = self.rest.as_mut().filter(|_| wanted > 0) else { return Poll::Ready(None) };
        let mut buffer = BytesMut::zeroed(wanted);
        let mut piece = ReadBuf::new(&mut buffer);
        if let Err(error) = ready!(Pin::new(file).poll_read(cx, &mut piece)) {
            return Poll::Ready(Some(Err(error)));
        }
        let read = piece.filled().len();
        if read == 0 {
            return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
        }
        buffer.truncate(read);
        self.left -= read as u64;
        Poll::Ready(Some(Ok(Frame::data(buffer.freeze()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
