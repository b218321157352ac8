//! The release as an asset: everything that reads a part of it comes after it.
//!
//! It makes no file of its own. The program keeps the release in `release/`, as a whole or not at all: a folder with
//! files of two releases is of neither.

use crate::Phase;
use crate::graph::{Asset, Facet, Inputs, MakeError, Output, Source};

/// The asset's name.
pub const ID: &str = "release";

/// What fetch-release brings.
pub struct FetchedRelease;

impl Asset for FetchedRelease {
    fn id(&self) -> String {
        ID.to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::FetchRelease
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::inventory("release.image")]
    }

    fn outputs(&self) -> Vec<Output> {
        Vec::new()
    }

    fn gives(&self) -> Vec<Facet> {
        Facet::FETCHED.to_vec()
    }

    fn make(&self, _: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(Vec::new())
    }
}
