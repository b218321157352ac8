//! The two command lines, as they are run and as they are shown.

use std::fmt;
use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::feature_gates::{self, OS_STREAMS};
use hardway_assets::release_payload::{MissingImage, ReleasePayload, VersionContract};
use hardway_base::shell_word;

use super::images::OPERATOR;
use super::inputs::{ASSETS, CONTROLLER_IN, OPERATOR_OUT, RENDERED};
use super::podman::{AUTH, Podman, REGISTRIES, TRUST, registries_conf};
use super::preconditions::{CONFIG_FILE, PULL_SECRET};

/// One program call.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// What it is for.
    pub title: &'static str,
    /// Environment variables it gets besides those of the caller.
    pub environment: Vec<(String, String)>,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Both calls, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderCommands {
    /// The folder with the inputs; the outputs go there too.
    pub workspace: PathBuf,
    /// The operator, then the controller: from one image, because each refuses what another build made.
    pub lines: [CommandLine; 2],
}

/// The commands cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWorkspace {
    /// The release has no operator image.
    #[error(transparent)]
    Image(#[from] MissingImage),
    /// A path that cannot stand in `--volume`.
    #[error("{0:?} cannot be mounted into a container: the path must be absolute UTF-8 text without `:`")]
    Path(PathBuf),
}

impl RenderCommands {
    /// The commands for a workspace filled with [`super::render_inputs`].
    pub fn new(
        workspace: &Path,
        release: &ReleasePayload,
        cluster: &Cluster,
        podman: &Podman,
    ) -> Result<Self, BadWorkspace> {
        let text = workspace.to_str().filter(|text| workspace.is_absolute() && !text.contains(':'));
        let text = text.ok_or_else(|| BadWorkspace::Path(workspace.to_owned()))?;
        let call = Call { workspace: text, image: release.images.get(OPERATOR)?, release, cluster, podman };
        Ok(Self { workspace: workspace.to_owned(), lines: [call.operator(), call.controller()] })
    }

    /// Where the controller writes: what `--rendered-dir` takes.
    pub fn rendered_dir(&self) -> PathBuf {
        self.workspace.join(ASSETS).join(RENDERED)
    }
}

struct Call<'c> {
    workspace: &'c str,
    image: &'c str,
    release: &'c ReleasePayload,
    cluster: &'c Cluster,
    podman: &'c Podman,
}

impl Call<'_> {
    /// The operator's command: controller config and pools. The files it is not told of lie where it looks by default.
    fn operator(&self) -> CommandLine {
        let mut arguments = self.podman_run();
        arguments.extend([self.image.to_owned(), "bootstrap".to_owned()]);
        arguments.extend([
            "--root-ca=/assets/tls/root-ca.crt".to_owned(),
            "--kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt".to_owned(),
            format!("--config-file=/assets/{CONFIG_FILE}"),
            format!("--dest-dir=/assets/{OPERATOR_OUT}"),
            format!("--pull-secret=/assets/{PULL_SECRET}"),
            format!("--release-image={}", self.release.image),
            "--image-references=/assets/image-references".to_owned(),
            format!("--payload-version={}", self.release.version),
        ]);
        self.line("make the controller's configuration and pools", arguments)
    }

    /// The controller's command: one config for each pool. Without the version it would look for the feature gates of
    /// `0.0.1-snapshot`.
    fn controller(&self) -> CommandLine {
        let mut arguments = self.podman_run();
        arguments.push("--entrypoint=/usr/bin/machine-config-controller".to_owned());
        arguments.extend([self.image.to_owned(), "bootstrap".to_owned()]);
        arguments.extend([
            format!("--manifest-dir=/assets/{CONTROLLER_IN}"),
            format!("--dest-dir=/assets/{RENDERED}"),
            format!("--pull-secret=/assets/{PULL_SECRET}"),
            format!("--payload-version={}", self.release.version),
        ]);
        self.line("render one config for each pool", arguments)
    }

    /// The user is root inside, as on the bootstrap host (installer `bootkube.sh`). The folder is relabelled for
    /// SELinux. From 4.23 the controller asks the registry about node images, and from 4.21 where the release may have
    /// several; else no network is a promise that the result depends on the inputs alone.
    fn podman_run(&self) -> Vec<String> {
        let has_streams = || feature_gates::is_on(&self.cluster.config, self.release, OS_STREAMS);
        let needs_network = self.release.promises(VersionContract::node_render_contacts_registry)
            || self.release.promises(VersionContract::node_render_looks_for_streams) && has_streams();
        let network = if needs_network { "host" } else { "none" };
        let mut arguments = self.podman.options.clone();
        arguments.extend(["run".to_owned(), "--rm".to_owned(), "--user=0".to_owned()]);
        arguments.extend([
            format!("--net={network}"),
            format!("--authfile={}/{AUTH}", self.workspace),
            format!("--volume={}/{ASSETS}:/assets:z", self.workspace),
        ]);
        arguments.extend(self.podman.run_options.iter().cloned());
        arguments
    }

    fn line(&self, title: &'static str, arguments: Vec<String>) -> CommandLine {
        let mut environment = self.podman.environment.clone();
        if registries_conf(self.cluster, self.podman).is_some() {
            let path = format!("{}/{REGISTRIES}", self.workspace);
            environment.push(("CONTAINERS_REGISTRIES_CONF".to_owned(), path));
        }
        // Go reads the system's folder of CAs besides this file, so the bundle adds to them.
        if !self.cluster.config.additional_trust_bundle.is_empty() {
            environment.push(("SSL_CERT_FILE".to_owned(), format!("{}/{TRUST}", self.workspace)));
        }
        CommandLine { title, environment, program: self.podman.program.clone(), arguments }
    }
}

/// As one would type it, but for the logins of proxies.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.environment {
            write!(f, "{name}={} ", shell_word(&without_login(value)))?;
        }
        f.write_str(&shell_word(&self.program))?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", shell_word(argument)))
    }
}

// By hand: the password of a proxy may be in the environment.
impl fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandLine({self})")
    }
}

/// Both, each after a comment that says what it is for.
impl fmt::Display for RenderCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "# {}\n{line}", line.title))
    }
}

/// An address without user and password.
fn without_login(value: &str) -> String {
    match value.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))) {
        Some((scheme, host)) => format!("{scheme}://<redacted>@{host}"),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shell_word("--volume=/a/b:/assets:z"), "--volume=/a/b:/assets:z");
        assert_eq!(shell_word("/my dir/it's"), r"'/my dir/it'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn a_login_is_handed_over_but_not_shown() {
        let environment = vec![("HTTPS_PROXY".to_owned(), "http://user:p@ss@proxy:3128".to_owned())];
        let line =
            CommandLine { title: "", environment, program: "podman".to_owned(), arguments: Vec::new() };
        assert_eq!(line.to_string(), "HTTPS_PROXY='http://<redacted>@proxy:3128' podman");
        assert!(!format!("{line:?}").contains("p@ss"));
    }
}
