//! The explanations: what a thing is, why it exists, who reads it, what breaks without it, and where that is known from.
//!
//! They are written as Markdown in `explanations/` of the crate that owns the thing, one file per kind, one heading per
//! thing; a [`Catalogue`] joins what it is given. Tests fail on anything generated that has no explanation and on any
//! explanation of something that no longer exists.

mod catalogue;
mod find;
mod near;
#[cfg(test)]
mod tests;

pub use crate::nearest::nearest;
pub use catalogue::{Catalogue, EXPLANATIONS, Explanation, Kind};
