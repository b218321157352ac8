//! Reading the explanations.

use crate::machine_provider::Provider;

/// One explained thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What kind of thing.
    pub kind: Kind,
    /// Its name: `etcd-signer`, `/etc/motd`, `kube-apiserver --etcd-prefix`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Why it exists.
    pub why: &'static str,
    /// Who reads it.
    pub readers: &'static str,
    /// What breaks without it.
    pub without: &'static str,
    /// Where this is known from.
    pub source: &'static str,
}

/// The kinds, each a file in `explanations/` of the crate that owns what it explains. What is found under one name is
/// told in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A certificate, bundle or key pair.
    Certificate,
    /// A question asked before anything is built.
    Check,
    /// A step of day two.
    DayTwo,
    /// Why a certificate request was approved, held or denied.
    Decision,
    /// Something that breaks an install, in the failure catalogue.
    Diagnosis,
    /// A code that errors carry.
    Error,
    /// A field of install-config.yaml or inventory.yaml.
    Field,
    /// A file on a node.
    File,
    /// A command line flag, configuration key or environment variable of a component.
    Flag,
    /// Something that keeps hosted workers from working, in the failure catalogue of platform None.
    HostedDiagnosis,
    /// A kubeconfig.
    Kubeconfig,
    /// What manual guides give a component and hardway does not.
    LeftOut,
    /// A Kubernetes object.
    Manifest,
    /// A file or unit of nodes that the release's machine-config-operator renders, not hardway.
    Rendered,
    /// Any other file of the working directory.
    WorkFile,
    /// A systemd unit.
    Unit,
}

impl Kind {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certificate => "certificate",
            Self::Check => "check",
            Self::DayTwo => "step of day two",
            Self::Decision => "decision",
            Self::Diagnosis => "diagnosis",
            Self::Error => "error",
            Self::Field => "field",
            Self::File => "file on a node",
            Self::Flag => "flag",
            Self::HostedDiagnosis => "hosted diagnosis",
            Self::Kubeconfig => "kubeconfig",
            Self::LeftOut => "left out",
            Self::Manifest => "manifest",
            Self::Rendered => "rendered by the release",
            Self::Unit => "unit",
            Self::WorkFile => "file",
        }
    }
}

/// Explanations, by kind.
#[derive(Clone, Debug)]
pub struct Catalogue(Vec<Explanation>);

/// The explanations of everything this crate makes, for [`Catalogue::read`].
pub const EXPLANATIONS: &[(Kind, &str)] = &with_providers();

const FILES: [(Kind, &str); 11] = [
    (Kind::Certificate, include_str!("../../explanations/certificates.md")),
    (Kind::DayTwo, include_str!("../../explanations/day_two.md")),
    (Kind::Field, include_str!("../../explanations/fields.md")),
    (Kind::File, include_str!("../../explanations/files.md")),
    (Kind::Flag, include_str!("../../explanations/flags.md")),
    (Kind::Kubeconfig, include_str!("../../explanations/kubeconfigs.md")),
    (Kind::LeftOut, include_str!("../../explanations/left_out.md")),
    (Kind::Manifest, include_str!("../../explanations/manifests.md")),
    (Kind::Rendered, include_str!("../../explanations/rendered.md")),
    (Kind::WorkFile, include_str!("../../explanations/outputs.md")),
    (Kind::Unit, include_str!("../../explanations/units.md")),
];

/// The providers' settings are explained beside their rows.
const fn with_providers() -> [(Kind, &'static str); FILES.len() + Provider::ALL.len()] {
    let mut all = [(Kind::Field, ""); FILES.len() + Provider::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = match i < FILES.len() {
            true => FILES[i],
            false => (Kind::Field, Provider::ALL[i - FILES.len()].row().explanations),
        };
        i += 1;
    }
    all
}

impl Catalogue {
    /// What this crate explains.
    ///
    /// ```
    /// use hardway_assets::explain::Catalogue;
    ///
    /// let catalogue = Catalogue::of_assets();
    /// let found = catalogue.find("pki/etcd-signer.crt");
    /// assert_eq!(found[0].name, "etcd-signer");
    /// assert!(!found[0].why.is_empty());
    /// ```
    pub fn of_assets() -> Self {
        Self::read(EXPLANATIONS.iter().copied())
    }

    /// Reads texts, of this crate or of others: `## name` and below it the five lines of an [`Explanation`].
    ///
    /// ```
    /// use hardway_assets::explain::{Catalogue, EXPLANATIONS, Kind};
    ///
    /// let mine = (Kind::Check, "\n## disk-space\nwhat: Is there room?\n");
    /// let catalogue = Catalogue::read(EXPLANATIONS.iter().copied().chain([mine]));
    /// assert_eq!(catalogue.get(Kind::Check, "disk-space").unwrap().what, "Is there room?");
    /// ```
    pub fn read(texts: impl IntoIterator<Item = (Kind, &'static str)>) -> Self {
        let mut all: Vec<Explanation> =
            texts.into_iter().flat_map(|(kind, text)| sections(kind, text)).collect();
        all.sort_by_key(|explanation| explanation.kind);
        Self(all)
    }

    /// Every explanation: by kind, and within a kind as they are written.
    pub fn iter(&self) -> impl Iterator<Item = &Explanation> {
        self.0.iter()
    }

    /// The explanation of exactly this thing.
    pub fn get(&self, kind: Kind, name: &str) -> Option<&Explanation> {
        self.0.iter().find(|e| e.kind == kind && e.name == name)
    }
}

/// `## name` and five labelled lines below it.
fn sections(kind: Kind, text: &'static str) -> impl Iterator<Item = Explanation> {
    text.split("\n## ").skip(1).map(move |section| {
        let (name, body) = section.split_once('\n').unwrap_or((section, ""));
        let field = |label: &str| {
            body.lines()
                .find_map(|line| line.strip_prefix(label)?.strip_prefix(':'))
                .map(str::trim)
                .unwrap_or_default()
        };
        Explanation {
            kind,
            name: name.trim(),
            what: field("what"),
            why: field("why"),
            readers: field("readers"),
            without: field("without"),
            source: field("source"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sixth line would be read by nobody, a line in another order by nobody who edits the file next.
    #[test]
    fn a_section_is_a_name_and_five_labelled_lines() {
        for (kind, text) in EXPLANATIONS {
            for section in text.split("\n## ").skip(1) {
                let mut lines = section.trim_end().lines();
                let name = lines.next().unwrap_or_default();
                let labels: Vec<&str> =
                    lines.map(|line| line.split_once(": ").map_or(line, |(label, _)| label)).collect();
                assert_eq!(labels, ["what", "why", "readers", "without", "source"], "{kind:?} {name}");
            }
        }
    }
}
