//! `hardway validate`: what can be typed.

use clap::Args;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Form of the findings: text goes to standard error, with the lines of the files; the others to standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
