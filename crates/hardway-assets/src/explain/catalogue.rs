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

/// The kinds, one file of `explanations/` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A certificate, bundle or key pair.
    Certificate,
    /// A question asked before anything is built.
    Check,
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
    /// A Kubernetes object.
    Manifest,
    /// A systemd unit.
    Unit,
    /// Any other file of the working directory.
    WorkFile,
}

impl Kind {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certificate => "certificate",
            Self::Check => "check",
            Self::Decision => "decision",
            Self::Diagnosis => "diagnosis",
            Self::Error => "error",
            Self::Field => "field",
            Self::File => "file on a node",
            Self::Flag => "flag",
            Self::HostedDiagnosis => "hosted diagnosis",
            Self::Kubeconfig => "kubeconfig",
            Self::Manifest => "manifest",
            Self::Unit => "unit",
            Self::WorkFile => "file",
        }
    }
}

/// All explanations.
#[derive(Clone, Debug)]
pub struct Catalogue(Vec<Explanation>);

const FILES: [(Kind, &str); 13] = [
    (Kind::Certificate, include_str!("../../explanations/certificates.md")),
    (Kind::Check, include_str!("../../explanations/checks.md")),
    (Kind::Decision, include_str!("../../explanations/decisions.md")),
    (Kind::Diagnosis, include_str!("../../explanations/diagnoses.md")),
    (Kind::Error, include_str!("../../explanations/errors.md")),
    (Kind::Field, include_str!("../../explanations/fields.md")),
    (Kind::File, include_str!("../../explanations/files.md")),
    (Kind::Flag, include_str!("../../explanations/flags.md")),
    (Kind::HostedDiagnosis, include_str!("../../explanations/hosted-diagnoses.md")),
    (Kind::Kubeconfig, include_str!("../../explanations/kubeconfigs.md")),
    (Kind::Manifest, include_str!("../../explanations/manifests.md")),
    (Kind::WorkFile, include_str!("../../explanations/outputs.md")),
    (Kind::Unit, include_str!("../../explanations/units.md")),
];

impl Catalogue {
    /// Reads the embedded files.
    pub fn load() -> Self {
        Self::read(&files())
    }

    /// Reads the texts of some kinds.
    pub(super) fn read(files: &[(Kind, &'static str)]) -> Self {
        Self(files.iter().flat_map(|(kind, text)| sections(*kind, text)).collect())
    }

    /// Every explanation, in file order.
    pub fn iter(&self) -> impl Iterator<Item = &Explanation> {
        self.0.iter()
    }

    /// The explanation of exactly this thing.
    pub fn get(&self, kind: Kind, name: &str) -> Option<&Explanation> {
        self.0.iter().find(|e| e.kind == kind && e.name == name)
    }
}

/// Every file; the providers' settings are explained beside their rows.
fn files() -> Vec<(Kind, &'static str)> {
    let providers = Provider::ALL.iter().map(|provider| (Kind::Field, provider.row().explanations));
    FILES.into_iter().chain(providers).collect()
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
        for (kind, text) in files() {
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
