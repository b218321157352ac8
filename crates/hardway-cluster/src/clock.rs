//! A clock that never goes back, whatever is done to the computer's.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// A clock that was started.
#[derive(Clone, Copy, Debug)]
pub struct SteadyClock {
    wall: Timestamp,
    began: Instant,
}

impl SteadyClock {
    /// Starts at the given time.
    pub fn start(wall: Timestamp) -> Self {
        Self { wall, began: Instant::now() }
    }

    /// When it was started.
    pub fn started(&self) -> Timestamp {
        self.wall
    }

    /// How long ago that was, without the time the computer slept.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The starting time plus what has passed since.
    pub fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.elapsed()).unwrap_or(SignedDuration::MAX);
        self.wall.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }
}

/// As openshift-install prints durations: `1h0m0s`, `45m0s`, `12s`.
pub fn shown(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_look_like_gos() {
        for (seconds, text) in
            [(0, "0s"), (59, "59s"), (60, "1m0s"), (2700, "45m0s"), (3600, "1h0m0s"), (5025, "1h23m45s")]
        {
            assert_eq!(shown(SignedDuration::from_secs(seconds)), text);
        }
    }
}
