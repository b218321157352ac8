//! The clock. Nothing else in the program reads it.

use jiff::Timestamp;

/// Now. `HARDWAY_NOW` (RFC 3339) sets it for rehearsals of expiry and for tests.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub(crate) fn now() -> Timestamp {
    std::env::var("HARDWAY_NOW").ok().and_then(|text| text.parse().ok()).unwrap_or_else(Timestamp::now)
}
