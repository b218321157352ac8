//! What a check is, for whoever has checks of their own: those of every provider are in [`crate::preflight`], the others in the
//! folders of the providers (`providers/*/checks.rs`).
//!
//! ```text
//! CheckName      every check, its group, and the lists that descriptors name   name.rs
//! OwnLook        a check: looks at a site, and judges                          mod.rs
//! CheckedSite    what it looks at                                              checked_site.rs
//! ask_program()  what a program of this host says, within a time               asked_program.rs
//! Reachability   what a client gets at an address                              reachability.rs
//! ```

mod asked_program;
mod checked_site;
mod name;
mod reachability;

pub use checked_site::PreflightPatience;
pub use name::{CheckName, Group};

pub(crate) use asked_program::{NoAnswer, SHORT, ask_program, find_program};
pub(crate) use checked_site::CheckedSite;
pub(crate) use name::{FITS, NAMES};
pub(crate) use reachability::{Reachability, is_for, shown};

use hardway_base::Judged;

/// A check of one provider: collects evidence and judges it.
pub(crate) type OwnLook = fn(&CheckedSite<'_>) -> Judged;
