//! Waiting until something holds.

use std::time::{Duration, Instant};

/// Waits until something is so.
///
/// # Panics
/// When it is not in time.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let clock = Deadline::start(what);
    while !is_so() {
        clock.check();
        std::thread::sleep(PAUSE);
    }
}

/// The same where other tasks have to go on meanwhile.
///
/// # Panics
/// When it is not in time.
#[cfg(feature = "tokio")]
pub async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    until_found(what, async || is_so().await.then_some(())).await;
}

/// Waits until there is something, and gives it.
///
/// # Panics
/// When there is nothing in time.
#[cfg(feature = "tokio")]
pub async fn until_found<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let clock = Deadline::start(what);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        clock.check();
        tokio::time::sleep(PAUSE).await;
    }
}

const PAUSE: Duration = Duration::from_millis(50);

/// Long enough for a computer that is very busy; nothing is measured with it.
struct Deadline<'w> {
    what: &'w str,
    began: Instant,
    limit: Duration,
}

impl<'w> Deadline<'w> {
    /// `HARDWAY_PATIENCE` gives other seconds, for runs with more machines than usual.
    fn start(what: &'w str) -> Self {
        let seconds = std::env::var("HARDWAY_PATIENCE").ok().and_then(|text| text.parse().ok());
        Self { what, began: Instant::now(), limit: Duration::from_secs(seconds.unwrap_or(240)) }
    }

    fn check(&self) {
        assert!(self.began.elapsed() < self.limit, "not after {:?}: {}", self.limit, self.what);
    }
}
