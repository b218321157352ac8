//! The clock. Nothing else in the program reads it.

use std::sync::OnceLock;

use jiff::Timestamp;

use crate::report::{Code, Report};

/// A rehearsal's time, which stands still.
static REHEARSED: OnceLock<Timestamp> = OnceLock::new();

/// Looks once, at the start of the program, whether `HARDWAY_NOW` (RFC 3339) sets the clock, for rehearsals of expiry and
/// for tests.
pub(crate) fn set() -> Result<(), Report> {
    let Some(text) = std::env::var_os("HARDWAY_NOW") else { return Ok(()) };
    let time = text.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        Report::new(Code::Usage, format!("HARDWAY_NOW is not a valid time: {text:?}"))
            .fix("unset it, or use a time such as 2026-11-15T12:00:00Z")
    })?;
    REHEARSED.get_or_init(|| time);
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub(crate) fn now() -> Timestamp {
    REHEARSED.get().copied().unwrap_or_else(Timestamp::now)
}

/// The second that has begun: what is kept in files has no fractions.
pub(crate) fn second() -> Timestamp {
    whole_second(now())
}

pub(crate) fn whole_second(time: Timestamp) -> Timestamp {
    // Only the end of all time cannot be cut off.
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
