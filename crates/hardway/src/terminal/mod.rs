//! Where a person meets the program: what is printed, how far downloads are, and the log that stays.

mod downloads;
mod format;
mod log;
mod output;
mod progress;
mod rows;
mod sieve;

pub(crate) use downloads::Downloads;
pub(crate) use format::{Color, ErrorFormat, Format, LogLevel};
pub(crate) use log::Log;
pub(crate) use output::{Output, OutputOptions, TextCallback};
pub(crate) use progress::Progress;
pub(crate) use rows::{Columns, Place, Row, counts, paragraph};
pub(crate) use sieve::sieved;
