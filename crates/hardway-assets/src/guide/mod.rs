//! The guide: one page per phase, written by hand in `docs/guide/`, with tables made from the code.
//!
//! ```text
//! Page       a page, found by number or phase             pages.rs
//! table()    a Markdown table by name                     tables.rs
//! host_paths which files hosts get, for two of the tables
//! fill()     puts tables between their markers            markers.rs
//! ```
//!
//! `cargo xtask guide` writes the tables into the pages, and `--check` fails when a page holds an old one.

mod host_paths;
mod markers;
mod pages;
mod tables;
#[cfg(test)]
mod tests;

pub use markers::fill;
pub use pages::{Page, index, page, pages};
pub use tables::table;
