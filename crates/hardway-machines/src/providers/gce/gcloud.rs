//! Calls of `gcloud`.

use hardway_base::shell_word;

use super::Gce;
use crate::actions::{Action, ActionCheck, Program};

/// A thing that `gcloud` makes, finds and takes away.
pub(super) struct Resource<'r> {
    /// Such as `compute instances`.
    pub(super) kind: &'r str,
    /// Its name there.
    pub(super) name: String,
    /// Where it is: `--zone=…`, `--region=…`, or nothing.
    pub(super) place: Vec<String>,
    /// How a list is narrowed to that place.
    pub(super) listed: Vec<String>,
}

impl Gce {
    /// Without questions, in the project of the cluster.
    pub(super) fn gcloud(&self, words: &str) -> Program {
        let global = [format!("--project={}", self.settings.project), "--quiet".to_owned()];
        Program::new(self.gcloud.clone(), global).with(words.split_whitespace())
    }

    /// `INFRA-what`
    pub(super) fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.cluster.identity.infra_id)
    }

    /// Made if it is not there, and taken away if it is.
    pub(super) fn resource(
        &self,
        id: impl Into<String>,
        why: impl Into<String>,
        resource: &Resource<'_>,
        options: impl IntoIterator<Item = String>,
    ) -> Action {
        let create = self.verb("create", resource).with(options);
        Action::programs(id, why, self.exists(resource), [create], [self.delete(resource)])
    }

    /// Whether it is there.
    pub(super) fn exists(&self, resource: &Resource<'_>) -> ActionCheck {
        ActionCheck::Succeeds(self.verb("describe", resource).with(["--format=value(name)"]))
    }

    /// Takes it away if it is there. Not by asking whether it can be described: that also fails without a login, and
    /// then something that costs money would be forgotten.
    pub(super) fn delete(&self, resource: &Resource<'_>) -> Program {
        let list = self
            .gcloud(resource.kind)
            .with(["list".to_owned(), format!("--filter=name={}", resource.name)])
            .with(resource.listed.clone())
            .with(["--format=value(name)"]);
        let delete = self.verb("delete", resource);
        shell(format!("found=$({list}) && {{ test -z \"$found\" || {delete}; }}"))
    }

    /// `gcloud … KIND VERB NAME PLACE`
    pub(super) fn verb(&self, verb: &str, resource: &Resource<'_>) -> Program {
        self.gcloud(resource.kind).with([verb.to_owned(), resource.name.clone()]).with(resource.place.clone())
    }
}

impl<'r> Resource<'r> {
    /// Of the whole project.
    pub(super) fn global(kind: &'r str, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), place: Vec::new(), listed: Vec::new() }
    }

    /// Of a zone.
    pub(super) fn zonal(kind: &'r str, name: impl Into<String>, zone: &str) -> Self {
        Self {
            kind,
            name: name.into(),
            place: vec![format!("--zone={zone}")],
            listed: vec![format!("--zones={zone}")],
        }
    }

    /// Of a region.
    pub(super) fn regional(kind: &'r str, name: impl Into<String>, region: &str) -> Self {
        Self {
            kind,
            name: name.into(),
            place: vec![format!("--region={region}")],
            listed: vec![format!("--regions={region}")],
        }
    }
}

/// A line of shell.
pub(super) fn shell(line: impl Into<String>) -> Program {
    Program::new("sh", ["-c".to_owned(), line.into()])
}

/// Refuses a file that the metadata of an instance does not take.
pub(super) fn fits(file: &str, bytes: u64) -> Program {
    let word = shell_word(file);
    shell(format!(
        "test \"$(wc -c < {word})\" -le {bytes} || {{ echo {} >&2; exit 1; }}",
        shell_word(&format!("{file} is larger than {bytes} bytes, the most that a metadata value holds"))
    ))
}
