//! What was last seen of the files of the working folder.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{AssetSeen, AssetsSeen, CertificateSeen, CertificatesSeen, Event};

/// Assets and certificates as they were when they were last otherwise. Empty in journals of a hardway that did not write them down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesSeen {
    assets: BTreeMap<String, (Timestamp, AssetSeen)>,
    certificates: BTreeMap<String, (Timestamp, CertificateSeen)>,
}

impl FilesSeen {
    /// By name, with the moment from which on they were so.
    pub fn assets(&self) -> &BTreeMap<String, (Timestamp, AssetSeen)> {
        &self.assets
    }

    /// By name, with the moment from which on they lay there.
    pub fn certificates(&self) -> &BTreeMap<String, (Timestamp, CertificateSeen)> {
        &self.certificates
    }

    pub(super) fn apply(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::AssetsSeen(AssetsSeen { assets, gone }) => {
                gone.iter().for_each(|name| _ = self.assets.remove(name));
                self.assets.extend(assets.iter().map(|seen| (seen.asset.clone(), (at, seen.clone()))));
            }
            Event::CertificatesSeen(CertificatesSeen { certificates, gone }) => {
                gone.iter().for_each(|name| _ = self.certificates.remove(name));
                let rows = certificates.iter().map(|seen| (seen.certificate.clone(), (at, seen.clone())));
                self.certificates.extend(rows);
            }
            _ => {}
        }
    }
}
