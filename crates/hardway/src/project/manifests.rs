//! Everything that the bootstrap host creates, judged as its API server would, before there is one.

use std::collections::BTreeSet;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use hardway_assets::install_config::InstallConfig;
use hardway_assets::release_payload::ReleasePayload;
use hardway_assets::work_paths::MANIFEST_FOLDERS;
use hardway_assets::{Phase, yaml};
use hardway_base::counted;
use hardway_manifests::{Finding, Findings, Kinds, ManifestFile, Severity};

use super::{Checked, Forecast, Project};
use crate::inputs::{InputFiles, Workdir};
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// The files that were judged, and what was found in them.
pub(crate) struct Judged {
    pub(crate) findings: Findings,
    workdir: Workdir,
    files: Vec<(String, Vec<u8>)>,
}

impl Judged {
    /// What is on disk, and what would be made of the rest, without asking anybody. Nothing when the release has to be fetched
    /// first.
    pub(crate) fn here(workdir: &Workdir, files: &InputFiles, out: &Output) -> Result<Option<Self>, Report> {
        if Checked::reason_to_fetch(workdir, files)?.is_some() {
            return Ok(None);
        }
        let (checked, _) = Checked::with_warnings(workdir, files, Reach::Kept, out)?;
        let project = Project::look(workdir, checked)?.around_the_broken();
        // With what they are made from, and without the certificates of every host.
        let forecast = Forecast::of(&project, |asset| asset.phase() == Phase::MakeManifests)?;
        Ok(Some(Self::of(workdir, &project, &forecast)))
    }

    /// What a run would leave behind.
    pub(crate) fn of(workdir: &Workdir, project: &Project, forecast: &Forecast) -> Self {
        let tree = forecast.plan.tree(project.tree());
        let files: Vec<(String, Vec<u8>)> = MANIFEST_FOLDERS
            .iter()
            .flat_map(|folder| tree.folder(folder))
            .filter(|(path, _)| is_manifest(path))
            .map(|(path, bytes)| (path.to_owned(), bytes.to_vec()))
            .collect();
        let given: Vec<ManifestFile<'_>> =
            files.iter().map(|(path, bytes)| ManifestFile { path, bytes }).collect();
        let mut kinds = kinds(project.release(), &project.cluster().config, &files);
        Self { findings: Findings::of(&given, &mut kinds), workdir: workdir.clone(), files }
    }

    /// Paths of everything that was looked at.
    pub(crate) fn files(&self) -> Vec<&str> {
        self.files.iter().map(|(path, _)| path.as_str()).collect()
    }

    /// Everything odd, drawn into its place.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.drawn(Severity::Warning)
    }

    /// An error, when something would be refused.
    pub(crate) fn refused(&self) -> Option<Report> {
        let evidence = self.drawn(Severity::Error);
        let what = match evidence.len() {
            0 => return None,
            count => {
                let things = counted(count, "thing");
                format!("the cluster's API server would reject or drop {things} in these manifests")
            }
        };
        let fix = "edit the files; nothing else was written";
        Some(Report::new(Code::ManifestsRefused, what).evidence(evidence).fix(fix))
    }

    fn drawn(&self, severity: Severity) -> Vec<String> {
        let of_severity = self.findings.found.iter().filter(|finding| finding.severity == severity);
        of_severity.map(|finding| self.draw(finding)).collect()
    }

    /// Secrets are in some of these files: of a Secret, no line is shown.
    fn draw(&self, finding: &Finding) -> String {
        let (title, path) = (finding.mistake.to_string(), self.workdir.shown(&finding.file));
        let fix = finding.mistake.fix.as_ref().map(|fix| format!("\n  fix: {fix}")).unwrap_or_default();
        let text = self.files.iter().find(|(path, _)| *path == finding.file);
        let text = text.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok());
        let Some(text) = text.filter(|_| may_be_shown(finding)) else {
            let word = finding.severity.word();
            return format!("{word}: {title}\n  --> {path}:{}:{}{fix}", finding.line, finding.column);
        };
        let start = finding.span.start.min(text.len());
        let begin = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let last = finding.span.end.clamp(start, end);
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let source = Snippet::source(&text[begin..end]).line_start(finding.line).path(&path);
        let place = AnnotationKind::Primary.span(start - begin..last - begin);
        let drawn =
            Renderer::styled().render(&[level.primary_title(&title).element(source.annotation(place))]);
        drawn.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + &fix
    }
}

fn is_manifest(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}

/// Of objects that hold keys or passwords only the place is told; so it is of lines that are long, as encoded files are.
fn may_be_shown(finding: &Finding) -> bool {
    let kind = finding.object.split(' ').next().unwrap_or_default();
    !["", "Secret", "MachineConfig", "ConfigMap"].contains(&kind)
}

/// The kinds of a cluster of this release and install-config. Of its CRDs only those are read that an object asks for.
fn kinds(release: &ReleasePayload, config: &InstallConfig, files: &[(String, Vec<u8>)]) -> Kinds {
    let mut kinds = match release.contract() {
        Ok(contract) => {
            Kinds::of_kubernetes(contract.kubernetes_minor()).with_ignition(contract.ignition_version())
        }
        Err(_) => Kinds::default(),
    };
    let wanted = wanted_kinds(files);
    let is_wanted = |text: &str| kinds_in(text).any(|name| wanted.contains(name));
    let own = release.crds_of(config);
    for crd in release.crds.iter().filter(|crd| is_wanted(&crd.text)) {
        let Ok(node) = yaml::read(&crd.text) else { continue };
        let is_own = own.iter().any(|own| own.file_name == crd.file_name);
        match is_own {
            true => {
                kinds.add(&node.to_json());
            }
            false => kinds.add_elsewhere(
                &node.to_json(),
                &format!("{} of the release, for another feature set or profile", crd.file_name),
            ),
        }
    }
    kinds
}

/// The kinds of all objects.
fn wanted_kinds(files: &[(String, Vec<u8>)]) -> BTreeSet<&str> {
    let texts = files.iter().filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
    texts.flat_map(kinds_in).filter(|name| *name != "CustomResourceDefinition").collect()
}

/// Every word behind a key `kind`, in whatever way YAML or JSON has it. More than there are does no harm.
fn kinds_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("kind").skip(1).filter_map(|rest| {
        let value = rest.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':')?;
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        let end = value.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(value.len());
        Some(&value[..end]).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_however_they_are_written() {
        for text in [
            "apiVersion: v1\nkind: OAuth\n",
            "kind:   'OAuth'  # mine\n",
            "{apiVersion: v1, kind: OAuth, metadata: {}}",
            "{\"apiVersion\":\"v1\",\"kind\":\"OAuth\"}",
            "\"kind\" :\n  OAuth\n",
        ] {
            assert_eq!(kinds_in(text).collect::<Vec<_>>(), ["OAuth"], "{text}");
        }
        assert_eq!(kinds_in("kindly: no\nof a kind\n").count(), 0);
    }
}
