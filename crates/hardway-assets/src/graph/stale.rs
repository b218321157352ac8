//! Why something is made again.

use std::fmt;

use jiff::Timestamp;

use super::Source;

/// One reason. An asset may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// What it is made from is made again first.
    Awaits(String),
    /// A file appeared in a folder the asset reads.
    Added(String),
    /// A source holds another value than last time.
    Changed(Source),
    /// A certificate is near its end.
    Expiring {
        /// Which.
        certificate: String,
        /// Seconds that are left; negative once it has expired.
        seconds_left: i64,
    },
    /// Another version of hardway made it.
    GeneratorChanged {
        /// The version that made it.
        from: String,
        /// The version that runs.
        to: String,
    },
    /// One of its files is not on disk.
    Missing(String),
    /// It was never made.
    New,
    /// A certificate begins in the future: the clock was ahead when it was issued.
    NotYetValid(String),
    /// A file went away from a folder the asset reads.
    Removed(String),
    /// Somebody wants the generated file back.
    Undone(String),
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Awaits(asset) => write!(f, "waits for {asset}"),
            Self::Added(path) => write!(f, "{path} was added"),
            Self::Changed(source) => match source {
                Source::Config(path) if path.is_empty() => f.write_str("install-config changed"),
                Source::Config(path) => write!(f, "install-config changed: {path}"),
                Source::File(path) => write!(f, "{path} changed"),
                Source::Folder(path) => write!(f, "{path}/ changed"),
                Source::Generation(host) => write!(f, "{host} is in its next generation"),
                Source::Identity => f.write_str("cluster identity changed"),
                Source::Inventory(path) => write!(f, "inventory changed: {path}"),
                Source::Issued(name) => write!(f, "certificate renewed: {name}"),
                Source::Release(facet) => write!(f, "release changed: {facet}"),
                Source::Secret(name) => write!(f, "secrets/{name} changed"),
            },
            Self::Expiring { certificate, seconds_left } if *seconds_left <= 0 => {
                write!(f, "certificate {certificate} expired {} ago", span(-seconds_left))
            }
            Self::Expiring { certificate, seconds_left } => {
                write!(f, "certificate {certificate} expires in {}", span(*seconds_left))
            }
            Self::GeneratorChanged { from, to } => write!(f, "generator changed: {from} → {to}"),
            Self::Missing(path) => write!(f, "{path} is missing"),
            Self::New => f.write_str("not made yet"),
            Self::NotYetValid(certificate) => {
                write!(
                    f,
                    "certificate {certificate} is not valid yet: the clock was ahead when it was issued"
                )
            }
            Self::Removed(path) => write!(f, "{path} was removed"),
            Self::Undone(path) => write!(f, "{path} is brought back"),
        }
    }
}

/// A length of time in its largest whole unit: `3 h`, `12 min`, `40 d`.
pub(super) fn span(seconds: i64) -> String {
    match seconds {
        s if s >= 2 * 86_400 => format!("{} d", s / 86_400),
        s if s >= 2 * 3_600 => format!("{} h", s / 3_600),
        s if s >= 120 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

/// A certificate and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Its name.
    pub certificate: String,
    /// Whether there is one on disk; if not, this is about the one that would be made.
    pub is_on_disk: bool,
    /// Its last second.
    pub not_after: Timestamp,
    /// Seconds that are left; negative once it has expired.
    pub seconds_left: i64,
    /// It begins in the future: the clock was ahead when it was issued.
    pub is_early: bool,
    /// From when on it is near enough to its end to be renewed.
    pub due_from: Timestamp,
    /// To be renewed: near enough to its end, or not valid yet.
    pub is_due: bool,
}

impl Expiry {
    /// Whether it was made and is of no use any more.
    pub fn has_ended(&self) -> bool {
        self.is_on_disk && self.seconds_left <= 0
    }

    /// `kubelet-signer ended at 2026-11-16T00:00:00Z`
    pub fn ending(&self) -> String {
        format!("{} ended at {}", self.certificate, self.not_after)
    }
}
