//! Input files as tables of fields: which names exist, what type each has, what is said about it. The tables themselves are in
//! `input_tables`.
//!
//! One table serves four readers: [`check`] finds every unknown or mistyped field of a file at once, `json_schema`
//! exports the table for editors, `explain` has a text for each row, and a test holds tables and texts together.

mod check;
mod field;
mod read;

pub use check::{check, too_new};
pub(crate) use check::{join, walk};
pub use field::{Field, FieldKind, Presence, Table};
pub use read::{Findings, Read};
pub(crate) use read::{reasons, syntax};
