//! `cargo xtask arrows`: the crates depend on each other in one direction only, the pure crates stay pure, and
//! the rooms within each crate use each other in one direction too (`modules.rs`).
//!
//! What is read is cargo's own resolution, so a crate that comes in through a feature of another is found too.

mod modules;

use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// Who may depend on whom, in whatever way (tests and build scripts included). xtask looks at the repository from
/// outside, and reads the assets to write the guide.
const ALLOWED: [(&str, &[&str]); 12] = [
    (
        "hardway",
        &[
            "hardway-assets",
            "hardway-base",
            "hardway-cluster",
            "hardway-hosted",
            "hardway-journal",
            "hardway-machines",
            "hardway-manifests",
            "hardway-page",
            "hardway-release",
            "hardway-testing",
        ],
    ),
    ("hardway-assets", &["hardway-base", "hardway-testing"]),
    ("hardway-base", &[]),
    ("hardway-cluster", &["hardway-assets", "hardway-base", "hardway-journal", "hardway-testing"]),
    (
        "hardway-hosted",
        &[
            "hardway-assets",
            "hardway-base",
            "hardway-cluster",
            "hardway-journal",
            "hardway-machines",
            "hardway-testing",
        ],
    ),
    ("hardway-journal", &["hardway-base"]),
    ("hardway-machines", &["hardway-assets", "hardway-base", "hardway-journal", "hardway-testing"]),
    ("hardway-manifests", &["hardway-assets", "hardway-testing"]),
    ("hardway-page", &["hardway-base", "hardway-testing"]),
    ("hardway-release", &["hardway-assets", "hardway-base", "hardway-testing"]),
    // Tests only: that it is never compiled into anything else is checked below.
    ("hardway-testing", &[]),
    ("xtask", &["hardway-assets"]),
];

const PURE: [&str; 2] = ["hardway-assets", "hardway-manifests"];
const BASE: &str = "hardway-base";
/// Features of the floor that the pure crates do without, and what they do.
const FLOORS_IMPURE: [(&str, &str); 4] = [
    ("archives", "reads what comes from elsewhere"),
    ("files", "touches the disk"),
    ("listener", "takes connections"),
    ("tls", "speaks TLS"),
];
const TESTS_ONLY: &str = "hardway-testing";

/// What may not be reached from a pure crate, and what it would bring in.
const IMPURE: [(&str, &[&str]); 5] = [
    ("an async runtime", &["async-std", "futures-executor", "mio", "smol", "tokio"]),
    ("HTTP", &["axum", "h2", "hyper", "reqwest", "tower", "ureq"]),
    ("TLS", &["native-tls", "openssl", "rustls"]),
    ("a Kubernetes client", &["kube", "kube-client", "kube-runtime"]),
    (
        "the terminal",
        &["anstream", "clap", "console", "crossterm", "dialoguer", "indicatif", "ratatui", "termcolor"],
    ),
];

/// Fails with one line for each wrong arrow.
pub(crate) fn run() -> Result<()> {
    let mut wrong = wrong_arrows(&metadata()?)?;
    wrong.extend(modules::check(crate::repository())?);
    let mut out = std::io::stdout();
    for line in &wrong {
        writeln!(out, "{line}")?;
    }
    ensure!(wrong.is_empty(), "{} wrong arrow(s)", wrong.len());
    writeln!(out, "all arrows are right")?;
    Ok(())
}

/// For this machine only: crates of other systems need not be downloaded.
fn metadata() -> Result<Value> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let text = output(Command::new(env!("CARGO")).args([
        "metadata",
        "--format-version=1",
        "--locked",
        "--filter-platform",
        host,
    ]))?;
    Ok(serde_json::from_str(&text)?)
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("{command:?}: {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// One line for each, in words.
fn wrong_arrows(metadata: &Value) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let names = names(metadata)?;
    let members: Vec<&str> = texts(&metadata["workspace_members"]);
    for id in &members {
        let from = *names.get(id).context("a member is no package")?;
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == from) else {
            wrong.push(format!("{from}: a new crate; say in xtask/src/arrows.rs whom it may depend on"));
            continue;
        };
        for to in arrows(metadata, id, |_| true).filter(|to| members.contains(to)) {
            let to = names.get(to).copied().unwrap_or(to);
            if !allowed.contains(&to) {
                wrong.push(format!("{from} → {to}: not allowed"));
            }
        }
        if arrows(metadata, id, is_normal).any(|to| names.get(to) == Some(&TESTS_ONLY)) {
            wrong.push(format!("{from} → {TESTS_ONLY}: only as a dev-dependency"));
        }
    }
    for pure in PURE {
        wrong.extend(impure(metadata, &names, pure)?);
    }
    Ok(wrong)
}

/// What a pure crate reaches and may not.
fn impure(metadata: &Value, names: &BTreeMap<&str, &str>, pure: &str) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (feature, what) in FLOORS_IMPURE {
        if asked_of_the_floor(metadata, pure).contains(&feature) {
            wrong.push(format!("{pure} → {BASE}: not with the feature `{feature}`, which {what}"));
        }
    }
    let id = names.iter().find(|(_, name)| **name == pure).context("a pure crate is not there")?.0;
    let optional = brought_by_features_of_the_floor(metadata);
    for path in paths(metadata, id) {
        let path: Vec<&str> = path.iter().map(|id| names.get(id).copied().unwrap_or(id)).collect();
        // cargo's resolution is that of the whole workspace, where others ask for these features.
        if path.windows(2).any(|step| step[0] == BASE && optional.contains(&step[1])) {
            continue;
        }
        let last = path.last().copied().unwrap_or_default();
        if let Some((brings, _)) = IMPURE.iter().find(|(_, crates)| crates.contains(&last)) {
            wrong.push(format!("{}: {brings} in the pure crate", path.join(" → ")));
        }
    }
    Ok(wrong)
}

/// The crates that the floor depends on only with a feature.
fn brought_by_features_of_the_floor(metadata: &Value) -> Vec<&str> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| package["name"] == BASE)
        .flat_map(|package| package["dependencies"].as_array().into_iter().flatten())
        .filter(|dependency| dependency["optional"] == true)
        .filter_map(|dependency| dependency["name"].as_str())
        .collect()
}

/// The features of the floor that a crate asks for, tests left out.
fn asked_of_the_floor<'m>(metadata: &'m Value, from: &str) -> Vec<&'m str> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let dependencies = packages
        .filter(|package| package["name"] == from)
        .flat_map(|package| package["dependencies"].as_array().into_iter().flatten());
    let base = dependencies.filter(|dependency| dependency["name"] == BASE && dependency["kind"].is_null());
    base.flat_map(|dependency| texts(&dependency["features"])).collect()
}

/// The name of each package, by id.
fn names(metadata: &Value) -> Result<BTreeMap<&str, &str>> {
    let packages = metadata["packages"].as_array().context("metadata without packages")?;
    Ok(packages.iter().filter_map(|p| Some((p["id"].as_str()?, p["name"].as_str()?))).collect())
}

/// The shortest way from a package to each one that is compiled into it, itself left out.
fn paths<'m>(metadata: &'m Value, start: &'m str) -> Vec<Vec<&'m str>> {
    let mut ways = BTreeMap::from([(start, vec![start])]);
    let mut queue = VecDeque::from([start]);
    while let Some(id) = queue.pop_front() {
        for to in arrows(metadata, id, is_normal) {
            if !ways.contains_key(to) {
                let way = [ways[id].as_slice(), &[to]].concat();
                ways.insert(to, way);
                queue.push_back(to);
            }
        }
    }
    ways.remove(start);
    ways.into_values().collect()
}

/// A normal dependency has no kind; a build script or a test is not part of the crate.
fn is_normal(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
}

/// What a package depends on, by id.
fn arrows<'m>(
    metadata: &'m Value,
    from: &str,
    wanted: impl Fn(&Value) -> bool,
) -> impl Iterator<Item = &'m str> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    nodes
        .filter(move |node| node["id"] == from)
        .flat_map(|node| node["deps"].as_array().into_iter().flatten())
        .filter(move |dependency| wanted(dependency))
        .filter_map(|dependency| dependency["pkg"].as_str())
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Arrows as (from, to, kind); the first of each is a member unless its name starts with `ext-`.
    fn workspace(arrows: &[(&str, &str, Option<&str>)]) -> Value {
        let mut ids: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
        let members = ids.clone();
        ids.extend(arrows.iter().flat_map(|(from, to, _)| [*from, *to]));
        ids.sort_unstable();
        ids.dedup();
        let nodes: Vec<Value> = ids
            .iter()
            .map(|id| {
                let deps = arrows.iter().filter(|(from, _, _)| from == id);
                let deps = deps.map(|(_, to, kind)| json!({"pkg": to, "dep_kinds": [{"kind": kind}]}));
                json!({"id": id, "deps": deps.collect::<Vec<_>>()})
            })
            .collect();
        let packages: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": id})).collect();
        json!({"packages": packages, "workspace_members": members, "resolve": {"nodes": nodes}})
    }

    #[test]
    fn the_arrows_of_the_design_are_right() {
        let good = workspace(&[
            ("hardway", "hardway-hosted", None),
            ("hardway", "clap", None),
            ("hardway-hosted", "hardway-machines", None),
            ("hardway-machines", "hardway-assets", None),
            ("hardway-machines", "tokio", None),
            ("hardway-assets", "serde", None),
            ("hardway-assets", "rustls", Some("dev")),
            ("serde", "clap", Some("build")),
        ]);
        assert_eq!(wrong_arrows(&good).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_that_points_back_is_named() {
        let bad = workspace(&[
            ("hardway-assets", "hardway-release", Some("dev")),
            ("hardway-cluster", "hardway-machines", None),
        ]);
        let wrong = wrong_arrows(&bad).unwrap();
        assert_eq!(
            wrong,
            [
                "hardway-assets → hardway-release: not allowed",
                "hardway-cluster → hardway-machines: not allowed"
            ]
        );
    }

    #[test]
    fn what_is_for_tests_is_in_nothing_else() {
        let dev = ("hardway-assets", "hardway-testing", Some("dev"));
        assert_eq!(wrong_arrows(&workspace(&[dev])).unwrap(), Vec::<String>::new());
        let normal = ("hardway-assets", "hardway-testing", None);
        let wrong = wrong_arrows(&workspace(&[normal])).unwrap();
        assert_eq!(wrong, ["hardway-assets → hardway-testing: only as a dev-dependency"]);
    }

    #[test]
    fn the_way_to_an_impure_crate_is_shown() {
        let bad = workspace(&[
            ("hardway-assets", "friendly", None),
            ("friendly", "async-friend", None),
            ("async-friend", "tokio", None),
        ]);
        let wrong = wrong_arrows(&bad).unwrap();
        assert_eq!(
            wrong,
            ["hardway-assets → friendly → async-friend → tokio: an async runtime in the pure crate"]
        );
    }

    #[test]
    fn the_pure_crate_does_not_reach_the_disk_through_the_floor() {
        let mut metadata = workspace(&[("hardway-assets", "hardway-base", None)]);
        let packages = metadata["packages"].as_array_mut().unwrap();
        let pure = packages.iter_mut().find(|package| package["name"] == PURE[0]).unwrap();
        pure["dependencies"] = json!([{"name": BASE, "kind": null, "features": ["files"]}]);
        let wrong = wrong_arrows(&metadata).unwrap();
        assert_eq!(
            wrong,
            ["hardway-assets → hardway-base: not with the feature `files`, which touches the disk"]
        );
    }

    #[test]
    fn a_crate_nobody_thought_of_is_named() {
        let mut metadata = workspace(&[("hardway-new", "hardway-assets", None)]);
        metadata["workspace_members"] = json!(["hardway-assets", "hardway-new"]);
        let wrong = wrong_arrows(&metadata).unwrap();
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].starts_with("hardway-new: a new crate"), "{wrong:?}");
    }
}
