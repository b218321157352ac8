//! Installs in which something is wrong that operators take over from the bootstrap host. Each must fail as it does with the
//! real operators, and the first thing that is said of it must be the cause, not what comes of it.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use hardway_assets::ignition::{data_of, data_url};
use serde_json::Value;

use super::lab::{Lab, last_lines};

/// Before the fault shows, something new may take long on a computer that is busy.
const PATIENT: &str = "20m";
/// After that there is nothing to wait for.
const IMPATIENT: &str = "20s";
const TRIES: usize = 4;
/// What `create cluster` ends with when bootstrapping does not come to its end.
const BOOTSTRAP: i32 = 5;

/// The etcd operator takes a signer without annotations for one that has ended.
pub(super) fn etcd_signer() -> Result<()> {
    let lab = with_manifests("signer")?;
    edit(&lab, "operator-seeds/openshift-etcd-etcd-signer.yaml", |text| {
        let annotations = text.find("  annotations:").context("it has no annotations")?;
        let after = text[annotations..].find("\n  labels:").context("nothing follows them")?;
        Ok(format!("{}{}", &text[..annotations], &text[annotations + after + 1..]))
    })?;
    let refused = || {
        says(
            &lab,
            "etcds.operator.openshift.io/cluster",
            "ClusterMemberController",
            "failed to get member list",
        )
    };
    fails(&lab, refused, "E-B29", &["etcd-ca-bundle has 2 CAs", "failed to get member list"])
}

/// The masters' API servers look below another key.
pub(super) fn etcd_prefix() -> Result<()> {
    let lab = with_manifests("prefix")?;
    edit(&lab, "static-pods/kube-apiserver-config.yaml", replacing("- kubernetes.io\n", "- /registry\n"))?;
    // Whatever answers by then, the objects are not there for all of the API servers.
    let looks_empty = || {
        let output = lab.inside_command(&["kubectl", "get", "namespace", "openshift-etcd"]).output()?;
        Ok(String::from_utf8_lossy(&output.stderr).contains("\"openshift-etcd\" not found"))
    };
    fails(&lab, looks_empty, "E-B30", &["etcd-prefix is /registry"])
}

/// The network operator has no address to give to nodes, and the API server's none for a certificate.
pub(super) fn internal_url() -> Result<()> {
    let file = "manifests/cluster-infrastructure-02-config.yml";
    let wrong = replacing("apiServerInternalURI:", "apiServerInternalURL:");
    let lab = with_manifests("url")?;
    renders_nothing(&lab, file, wrong, "call it status.apiServerInternalURI")?;
    edit_on_bootstrap_host(&lab, file, wrong)?;
    // Without a network no other operator gets as far as to complain.
    let without = || says(&lab, "clusteroperator/network", "", "apiServerInternalURI");
    fails(&lab, without, "E-B28", &["no status.apiServerInternalURI"])
}

/// Operators wait for the gates of their version and exit.
pub(super) fn feature_gate() -> Result<()> {
    let file = "openshift/99_feature-gate.yaml";
    let wrong = replacing("  name: cluster\n", "  name: another\n");
    let lab = with_manifests("gate")?;
    renders_nothing(&lab, file, wrong, "the only FeatureGate that is used has the name")?;
    edit_on_bootstrap_host(&lab, file, wrong)?;
    let exits = || {
        let count = "jsonpath={.items[*].status.containerStatuses[*].restartCount}";
        let counts = lab.kubectl(&["get", "pods", "-n", "openshift-etcd-operator", "-o", count])?;
        Ok(counts.split_whitespace().any(|count| count != "0"))
    };
    fails(&lab, exits, "E-B27", &["no featuregate cluster"])
}

/// The API server's revision waits for it.
pub(super) fn public_key() -> Result<()> {
    let lab = with_manifests("key")?;
    let other_name = replacing("  name: sa-token-signing-certs\n", "  name: sa-token-keys\n");
    edit(&lab, "operator-seeds/configmap-sa-token-signing-certs.yaml", other_name)?;
    let waits = || {
        says(
            &lab,
            "kubeapiservers.operator.openshift.io/cluster",
            "RevisionController",
            "sa-token-signing-certs",
        )
    };
    fails(
        &lab,
        waits,
        "E-B31",
        &["no configmap openshift-config-managed/sa-token-signing-certs", "not found"],
    )
}

/// Nobody says that bootstrapping is complete, and the etcd operator keeps the bootstrap member.
pub(super) fn bootstrap() -> Result<()> {
    let lab = with_manifests("report")?;
    with_ignition(&lab)?;
    edit(&lab, "bootstrap.ign", |text| {
        let mut config: Value = serde_json::from_str(text)?;
        let units = config["systemd"]["units"].as_array_mut().context("it has no units")?;
        let reports = units.iter_mut().find(|unit| unit["name"] == "progress.service");
        reports.context("nobody reports")?["enabled"] = false.into();
        // It is also what starts bootkube.
        let bootkube = units.iter_mut().find(|unit| unit["name"] == "bootkube.service");
        let bootkube = bootkube.context("it has no bootkube")?;
        let contents = bootkube["contents"].as_str().context("bootkube is empty")?;
        bootkube["contents"] = format!("{contents}\n[Install]\nWantedBy=multi-user.target\n").into();
        bootkube["enabled"] = true.into();
        Ok(config.to_string())
    })?;
    let is_over = || {
        let mut look = Command::new("podman");
        look.args(["exec", &lab.container("bootstrap"), "test", "-e", "/opt/openshift/.bootkube.done"]);
        Ok(look.output()?.status.success())
    };
    fails(&lab, is_over, "E-B32", &["progress.service has not run"])
}

/// A lab with its manifests made, and nothing booted.
fn with_manifests(drill: &str) -> Result<Lab> {
    let lab = Lab::init(drill, 1, 0)?;
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("make-manifests: done")?;
    run.kill()?;
    Ok(lab)
}

/// The same with the bootstrap host's config, which nothing is made of but what points to it.
fn with_ignition(lab: &Lab) -> Result<()> {
    lab.ok(&["phase", "run", "render-nodes"])?;
    lab.ok(&["phase", "run", "make-ignition"])?;
    Ok(())
}

/// Node configs cannot be rendered from what is wrong. The file is put right again, to see what becomes of it in a cluster
/// whose nodes do boot.
fn renders_nothing(
    lab: &Lab,
    file: &str,
    wrong: impl Fn(&str) -> Result<String>,
    complaint: &str,
) -> Result<()> {
    let right = fs::read_to_string(lab.path(file))?;
    edit(lab, file, wrong)?;
    let output = lab.hardway(&["phase", "run", "render-nodes"])?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success(), "node configs were rendered:\n{}", last_lines(&said, 40));
    ensure!(said.contains(complaint), "{complaint:?} is missing:\n{}", last_lines(&said, 40));
    fs::write(lab.path(file), right)?;
    with_ignition(lab)
}

/// The fault shows as it does with the real operators; the install gives up, and the first finding is the cause.
fn fails(lab: &Lab, shows: impl Fn() -> Result<bool>, code: &str, words: &[&str]) -> Result<()> {
    let mut run = lab.start(&["create", "cluster", "--stall-after", PATIENT])?;
    run.until_seen("the fault shows", shows)?;
    run.kill()?;
    for tries_left in (0..TRIES).rev() {
        let said = lab.start(&["create", "cluster", "--stall-after", IMPATIENT])?.must_fail(BOOTSTRAP)?;
        match names(&said, code, words) {
            // While the master's etcd begins anew with another revision there are not enough members, and that is named then.
            Err(_) if tries_left > 0 && said.contains(" does not answer: ") => {}
            Err(error) => return Err(error),
            Ok(()) => break,
        }
    }
    lab.destroy()
}

fn names(said: &str, code: &str, words: &[&str]) -> Result<()> {
    let found: Vec<&str> = said.lines().filter(|line| line.starts_with("E-")).collect();
    let is_first = matches!(found.as_slice(), [only] if only.starts_with(&format!("{code} ")));
    ensure!(is_first, "{code} is not what is said:\n{}", last_lines(said, 40));
    for word in words {
        ensure!(said.contains(word), "{word:?} is missing:\n{}", last_lines(said, 40));
    }
    Ok(())
}

/// Whether this object, or one controller of an operator, is Degraded and speaks of this.
fn says(lab: &Lab, object: &str, controller: &str, words: &str) -> Result<bool> {
    let condition = format!("jsonpath={{.status.conditions[?(@.type==\"{controller}Degraded\")]}}");
    let text = lab.kubectl(&["get", object, "-o", &condition])?;
    Ok(text.contains("\"status\":\"True\"") && text.contains(words))
}

fn replacing(from: &'static str, to: &'static str) -> impl Fn(&str) -> Result<String> + Copy {
    move |text: &str| {
        ensure!(text.matches(from).count() == 1, "{from:?} does not stand there once");
        Ok(text.replace(from, to))
    }
}

/// As a person would.
fn edit(lab: &Lab, name: &str, change: impl Fn(&str) -> Result<String>) -> Result<()> {
    let path = lab.path(name);
    let text = change(&fs::read_to_string(&path)?).with_context(|| name.to_owned())?;
    Ok(fs::write(&path, text)?)
}

/// A file that bootstrap.ign brings.
fn edit_on_bootstrap_host(lab: &Lab, file: &str, change: impl Fn(&str) -> Result<String>) -> Result<()> {
    let path = format!("/opt/openshift/{file}");
    edit(lab, "bootstrap.ign", |text| {
        let mut config: Value = serde_json::from_str(text)?;
        let files = config["storage"]["files"].as_array_mut().context("it has no files")?;
        let file =
            files.iter_mut().find(|file| file["path"] == path.as_str()).with_context(|| path.clone())?;
        let source = &mut file["contents"]["source"];
        let old = source.as_str().and_then(data_of).context("its content is elsewhere")?;
        let new = change(&String::from_utf8(old)?).with_context(|| path.clone())?;
        *source = data_url(new.as_bytes()).into();
        Ok(config.to_string())
    })
}
