//! Phase render-nodes: the release's own machine-config-operator, run with podman on what the cluster will also get.
//!
//! Both commands work in `render-nodes/` of the working directory. It holds the pull secret, goes away when they have
//! succeeded, and stays when they have not: to be looked at, or to be taken to a host that can run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;
use hardway_assets::Tree;
use hardway_assets::release_payload::RenderedConfig;
use hardway_assets::rendered_nodes::RenderedNodes;
use hardway_base::podman;
use hardway_release::PullSpec;
use hardway_release::render::{
    Podman, RenderCommands, RenderError, RenderedDirError, check, read_rendered_dir, run,
};

use super::{MakeOptions, Project};
use crate::inputs::{Workdir, io};
use crate::release::{host_has_proxy, plain_http};
use crate::report::{Code, Report};
use crate::terminal::Output;

/// Where the commands work.
pub(crate) const WORKSPACE: &str = "render-nodes";
/// More options for `podman run`, with spaces between them.
const OPTIONS: &str = "HARDWAY_PODMAN_OPTIONS";

/// Node configs by pool.
pub(crate) type Rendered = BTreeMap<String, RenderedConfig>;

/// Renders the nodes from these files, which are those of the working directory.
pub(crate) fn render_nodes(
    workdir: &Workdir,
    project: &Project,
    tree: &Tree,
    options: &MakeOptions,
    out: &Output,
) -> Result<Rendered, Report> {
    let workspace = workspace(workdir)?;
    out.info("rendering the nodes with the release's machine-config-operator");
    let mut log = |line: &str| out.debug(&format!("render-nodes: {line}"));
    let rendered =
        run(tree, project.release(), project.cluster(), (&workspace, &podman(project, options)), &mut log)
            .map_err(|error| failed(&error))?;
    fs::remove_dir_all(&workspace).map_err(|error| io(&error))?;
    Ok(with_own(project, rendered.configs))
}

/// Takes what was rendered elsewhere.
pub(crate) fn read_handed_in(project: &Project, dir: &Path, out: &Output) -> Result<Rendered, Report> {
    let rendered =
        read_rendered_dir(dir, project.release(), project.cluster()).map_err(|error| not_ours(&error))?;
    out.info(&format!("node configs as rendered in {}", dir.display()));
    Ok(with_own(project, rendered.configs))
}

/// The commands that [`render_nodes`] would run, one per line; an error where they would refuse to.
pub(crate) fn commands(
    workdir: &Workdir,
    project: &Project,
    tree: &Tree,
    options: &MakeOptions,
) -> Result<Vec<String>, Report> {
    let failed = |error: RenderError| failed(&error);
    check(tree, project.release(), project.cluster()).map_err(|faults| failed(faults.into()))?;
    let commands = RenderCommands::new(
        &workspace(workdir)?,
        project.release(),
        project.cluster(),
        &podman(project, options),
    )
    .map_err(|error| failed(error.into()))?;
    Ok(commands.lines.iter().map(ToString::to_string).collect())
}

fn workspace(workdir: &Workdir) -> Result<PathBuf, Report> {
    let dir = fs::canonicalize(workdir.path("")).map_err(|error| io(&error))?;
    Ok(dir.join(WORKSPACE))
}

/// Podman reaches registries as fetch-release does. Options of the command line come last, so that they win over those
/// of the environment, and over what this host seems to need.
fn podman(project: &Project, wanted: &MakeOptions) -> Podman {
    let mut options = podman::limits_here();
    let more = std::env::var(OPTIONS).unwrap_or_default();
    options.extend(more.split_whitespace().map(str::to_owned));
    options.extend(wanted.render.podman_options.iter().cloned());
    let release: Option<PullSpec> = project.release().image.parse().ok();
    let named: Vec<&PullSpec> = release.iter().collect();
    Podman {
        run_options: options,
        plain_http: plain_http(&wanted.release.registry, &named),
        environment: proxy(project),
        ..Podman::default()
    }
}

/// The proxy of the install-config, where this host's environment names none.
fn proxy(project: &Project) -> Vec<(String, String)> {
    let Some(proxy) = project.cluster().config.proxy.as_ref().filter(|_| !host_has_proxy()) else {
        return Vec::new();
    };
    let rows = [
        ("HTTP_PROXY", &proxy.http_proxy),
        ("HTTPS_PROXY", &proxy.https_proxy),
        ("NO_PROXY", &proxy.no_proxy),
    ];
    let set = rows.into_iter().filter(|(_, value)| !value.is_empty());
    set.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// A config that somebody edited or wrote stays theirs.
fn with_own(project: &Project, mut rendered: Rendered) -> Rendered {
    for (pool, config) in &project.release().rendered {
        let path = RenderedNodes::path(pool);
        if project.tree().get(&path).is_some() && !project.lock().is_ours(&path, project.tree()) {
            rendered.insert(pool.clone(), config.clone());
        }
    }
    rendered
}

fn failed(error: &RenderError) -> Report {
    match error {
        RenderError::Faults(_) => Report::from_error(Code::RenderRefused, error)
            .fix("correct these files, then run the same command again"),
        RenderError::NoPodman(_) => Report::from_error(Code::PodmanMissing, error)
            .fix("install podman, or pass node configs rendered elsewhere with --rendered-dir"),
        _ => Report::from_error(Code::RenderFailed, error)
            .fix("its input is in render-nodes/; --log-level debug shows its whole output"),
    }
}

fn not_ours(error: &RenderedDirError) -> Report {
    Report::from_error(Code::RenderedDirUnusable, error)
        .fix("render again from the files of this working folder: --dry-run prints the commands")
}
