//! Standard output from a thread of its own: a reader that stops reading must not stop the server, nor its end.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Prints what it is given, in order.
#[derive(Debug)]
pub(super) struct Printer {
    texts: SyncSender<String>,
    done: Receiver<std::io::Result<()>>,
    lost: u64,
}

/// Texts that wait for a slow reader; what comes after them is not printed.
const MOST_WAITING: usize = 512;
/// For a reader that has fallen behind, at the end.
const LAST_WAIT: Duration = Duration::from_secs(5);

impl Printer {
    /// Begins to print.
    pub(super) fn start() -> std::io::Result<Self> {
        let (texts, waiting) = sync_channel::<String>(MOST_WAITING);
        let (tell, done) = channel();
        std::thread::Builder::new().name("printer".to_owned()).spawn(move || {
            let mut stdout = std::io::stdout();
            let printed = waiting
                .iter()
                .try_for_each(|text| stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
            let _ = tell.send(printed);
        })?;
        Ok(Self { texts, done, lost: 0 })
    }

    /// Prints a text soon, or not at all when too many wait already.
    pub(super) fn print(&mut self, text: String) {
        if self.texts.try_send(text).is_err() {
            self.lost += 1;
        }
    }

    /// Lets the reader catch up for a moment; says how many texts nobody has seen.
    pub(super) fn end(self) -> std::io::Result<u64> {
        drop(self.texts);
        match self.done.recv_timeout(LAST_WAIT) {
            // A closed pipe is the reader's choice.
            Ok(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
            Ok(_) | Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => Ok(self.lost),
        }
    }
}
