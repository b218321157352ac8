//! Where a person meets the program: what is printed, how far downloads are, and the log that stays.

mod confirmation;
mod downloads;
mod format;
mod log;
mod output;

pub(crate) use confirmation::confirm;
pub(crate) use downloads::Downloads;
pub(crate) use format::{Color, ErrorFormat, Format, LogLevel};
pub(crate) use log::Log;
pub(crate) use output::{Output, OutputOptions};
