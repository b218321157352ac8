//! Certificates, keys and bundles.
//!
//! [`catalogue`] is the table; [`issue`] signs one row; [`inspect`] reads one back; the assets are in `certificate`.

mod bundle;
pub mod catalogue;
mod certificate;
mod expiry;
mod inspect;
mod issue;
mod known_hosts;
mod subject;

use crate::Cluster;
use crate::graph::Asset;

pub use crate::der;
pub use certificate::{CaBundle, Certificate, PublicKey, path};
pub use expiry::{ENDED_FIX, ended, expiries};
pub use inspect::{CertificateFacts, InspectError, inspect};
pub use issue::{San, Template, Usage, issue, key_id};
pub use known_hosts::{KNOWN_HOSTS, KnownHosts, expected_host_key};
pub use subject::Subject;

/// The assets of `pki/`, and `auth/known_hosts`.
pub fn assets(cluster: &Cluster) -> Vec<Box<dyn Asset>> {
    let mut assets: Vec<Box<dyn Asset>> = Vec::new();
    assets.extend(catalogue::certificates(cluster).into_iter().map(|row| Box::new(Certificate(row)) as _));
    assets.extend(catalogue::BUNDLES.iter().map(|bundle| Box::new(CaBundle(*bundle)) as _));
    assets.extend(catalogue::KEY_PAIRS.iter().map(|name| Box::new(PublicKey(name)) as _));
    assets.push(Box::new(KnownHosts::of(cluster)));
    assets
}
