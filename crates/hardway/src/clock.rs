//! The clock. Nothing else in the program reads it.

use jiff::Timestamp;

use crate::report::{Code, Report};

/// Now. `HARDWAY_NOW` (RFC 3339) sets it for rehearsals of expiry and for tests.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub(crate) fn now() -> Result<Timestamp, Report> {
    let Some(text) = std::env::var_os("HARDWAY_NOW") else { return Ok(Timestamp::now()) };
    let time = text.to_str().and_then(|text| text.parse().ok());
    time.ok_or_else(|| {
        Report::new(Code::Usage, format!("HARDWAY_NOW is {text:?}, which is not a time"))
            .fix("unset it, or write it like 2026-11-15T12:00:00Z")
    })
}
