//! The verbs that only tell: data on standard output, everything else on standard error.

use std::io::Read as _;
use std::process::Stdio;

use hardway_assets::inventory::Provider;
use hardway_assets::yaml;
use hardway_testing::Ran;
use serde_json::Value;

use crate::work;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", ran.stdout))
}

#[test]
fn the_graph_is_drawn_in_three_ways() {
    let work = work::made();
    let dot = work.ok(&["graph"]).stdout;
    assert!(dot.starts_with("digraph assets {\n") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(work.ok(&["graph", "-o", "dot"]).stdout, dot);
    let mermaid = work.ok(&["graph", "-o", "mermaid"]).stdout;
    assert!(mermaid.starts_with("flowchart ") || mermaid.starts_with("graph "), "{mermaid}");
    let graph = json(&work.ok(&["graph", "-o", "json"]));
    assert!(graph.to_string().contains("\"bootstrap-ignition\""));
    // Without a cluster, a made-up one.
    let graph = work::empty().ok(&["graph", "-o", "json"]).says("an example cluster");
    assert!(json(&graph).is_object());
}

#[test]
fn everything_can_be_asked_about() {
    let work = work::empty();
    for (what, told) in [
        (&["etcd-signer"][..], "etcd-signer (certificate)"),
        (
            &["/etc/kubernetes/manifests/kube-apiserver-pod.yaml"],
            "static-pods/kube-apiserver-pod.yaml (file)",
        ),
        (&["--etcd-prefix"], "kube-apiserver --etcd-prefix (flag)"),
        (&["kube-apiserver", "--etcd-prefix"], "kube-apiserver --etcd-prefix (flag)"),
        (&["networking.clusterNetwork.hostPrefix"], "hostPrefix (field)"),
        (&["machines.bare-metal.interface"], "inventory machines.bare-metal.interface (field)"),
        (&["machines.bare-metal.hosts.master-0.bmc.caFile"], "hosts.<host>.bmc.caFile (field)"),
        (&["machines.gce.sourceRanges[0]"], "inventory machines.gce.sourceRanges (field)"),
        (&["mediaUrl"], "inventory machines.bare-metal.mediaUrl (field)"),
        (&["installdisk"], "inventory hosts.installDisk (field)"),
        (&["machines.lab.name"], "inventory machines.lab.name (field)"),
        (&["stage", "6"], "# 06 make-manifests: "),
        (&["stage", "7"], "# 07 render-nodes: "),
        (&["config-invalid"], "config-invalid (error)"),
        (&["bootstrap.ign"], "bootstrap.ign (file)"),
    ] {
        let ran = work.ok(&[&["explain"], what].concat());
        assert!(ran.stdout.contains(told), "{what:?}: {}", ran.stdout);
        assert_eq!(ran.stderr, "", "{what:?}");
        let value = json(&work.ok(&[&["explain", "-o", "json"], what].concat()));
        let read = yaml::read(&work.ok(&[&["explain", "-o", "yaml"], what].concat()).stdout).unwrap();
        assert_eq!(read.to_json(), value, "{what:?}");
    }
}

/// The words are the table's, which checks the file.
#[test]
fn the_words_that_a_field_may_have_are_told() {
    let work = work::empty();
    let names: Vec<&str> = Provider::ALL.iter().map(|provider| provider.name()).collect();
    let told = work.ok(&["explain", "machines.provider"]).stdout;
    assert!(told.contains(&format!("  values    {}\n", names.join(", "))), "{told}");
    let told = work.ok(&["explain", "machines.provider", "-o", "json"]).json();
    assert_eq!(told[0]["values"], serde_json::json!(names));
    assert!(!work.ok(&["explain", "baseDomain"]).stdout.contains("values"));
}

#[test]
fn what_nobody_knows_is_code_two_with_near_names() {
    let work = work::empty();
    let ran = work.refused(2, &["explain", "etcd-singer"]);
    assert_eq!(ran.stdout, "");
    ran.says("error[usage]: no explanation for \"etcd-singer\"").says("similar names: etcd-signer");
    work.refused(2, &["explain", "--etcd-prefx"]).says("similar names: kube-apiserver --etcd-prefix");
    work.refused(2, &["explain", "stage", "99"])
        .says("no such stage in the guide: \"99\"")
        .says("stages are 1 to ");
    work.refused(2, &["explain", "cucumber"])
        .says("no explanation for \"cucumber\"")
        .does_not_say("similar names");
}

#[test]
fn schemas_are_json() {
    let work = work::empty();
    for (file, field) in [("install-config", "pullSecret"), ("inventory", "hosts")] {
        let schema = json(&work.ok(&["schema", file]));
        assert!(schema["$schema"].is_string() && schema["properties"][field].is_object(), "{schema:#}");
    }
    work.refused(2, &["schema", "nothing"]);
}

#[test]
fn phases_are_listed_and_explained() {
    let work = work::empty();
    let text = work.ok(&["phase", "list"]).stdout;
    assert!(text.starts_with("01   check-host          "), "{text}");
    assert!(
        text.contains("\n03   fetch-release       a pull spec by tag or digest, and the pull secret → "),
        "{text}"
    );
    assert!(text.contains("\n07   render-nodes        the manifests of phase 06"), "{text}");
    let list = json(&work.ok(&["phase", "list", "-o", "json"]));
    assert_eq!(list.as_array().unwrap().len(), text.lines().count());
    assert_eq!(list[6]["name"], "render-nodes");
    let yaml = yaml::read(&work.ok(&["phase", "list", "-o", "yaml"]).stdout).unwrap();
    assert_eq!(yaml.to_json(), list);
    for phase in text.lines().map(|line| line.split_whitespace().nth(1).unwrap()) {
        let page = work.ok(&["phase", "explain", phase]).stdout;
        assert!(page.starts_with("# ") && page.contains(phase), "{phase}");
    }
    work.refused(2, &["phase", "explain", "nothing"]).says("no such phase: \"nothing\"");
}

#[test]
fn status_is_data_in_every_form() {
    let work = work::made();
    work.edit("manifests/cluster-dns-02-config.yml", "type: \"\"", "type: AWS");
    let value = json(&work.ok(&["status", "-o", "json"]).says("warning: "));
    let yaml = yaml::read(&work.ok(&["status", "-o", "yaml"]).stdout).unwrap();
    assert_eq!(yaml.to_json(), value);
    let asset = |name: &str| {
        value["assets"].as_array().unwrap().iter().find(|asset| asset["asset"] == name).unwrap().clone()
    };
    assert_eq!(asset("dns")["files"][0]["state"], "edited-by-hand");
    let bootstrap = asset("bootstrap-ignition");
    assert_eq!(bootstrap["reasons"][0], "manifests/cluster-dns-02-config.yml changed");
    assert_eq!((&bootstrap["stale"], &bootstrap["phase"]), (&true.into(), &"make-ignition".into()));
    assert!(value["certificates"][0]["notAfter"].is_string());
    let all = work.ok(&["status", "--all"]).stdout;
    assert!(all.contains("fresh  make-pki") && all.contains("ends   2026-11-16T00:00:00Z"), "{all}");
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    let work = work::empty();
    for (shell, text) in [("bash", "_hardway"), ("zsh", "#compdef hardway"), ("fish", "complete -c hardway")]
    {
        let script = work.ok(&["completion", shell]).stdout;
        assert!(script.contains(text), "{shell}");
    }
    // As a file: it is longer than an argument may be.
    work.write("completion.bash", work.ok(&["completion", "bash"]).stdout);
    let mut bash = std::process::Command::new("bash");
    bash.arg("-n").arg(work.path("completion.bash"));
    assert!(Ran::of(bash).code == Some(0), "bash cannot read its completion");
    let page = work.ok(&["man"]).stdout;
    assert!(page.contains(".TH hardway 1"), "{page}");
    assert!(work.ok(&["--help"]).stdout.contains("Usage: hardway"));
    assert!(work.ok(&["--version"]).stdout.starts_with("hardway 0."));
}

#[test]
fn a_reader_who_goes_away_is_no_error() {
    let work = work::made();
    for args in [
        &["graph"][..],
        &["status", "--all"],
        &["man"],
        &["--help"],
        &["explain", "stage", "7"],
        &["graph", "-o", "json"],
    ] {
        let mut child = work.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(!said.contains("panic"), "{args:?}: {said}");
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}: {said}");
    }
    let mut child = work.command(&["create", "manifests"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn colours_are_asked_for_or_absent() {
    let work = work::empty();
    work.write("install-config.yaml", "fips: 7\n");
    work.write("inventory.yaml", "");
    let colored = |args: &[&str], variable: Option<&str>| {
        let mut command = work.command(args);
        command.envs(variable.map(|name| (name, "1")));
        Ran::of(command).expect(3).stderr.contains('\u{1b}')
    };
    assert!(!colored(&["status"], None), "there is no terminal");
    assert!(colored(&["status", "--color", "always"], None));
    assert!(
        colored(&["--color", "always", "status"], Some("NO_COLOR")),
        "the flag is closer than the environment"
    );
    assert!(colored(&["status"], Some("CLICOLOR_FORCE")));
    assert!(!colored(&["status", "--color", "never"], Some("CLICOLOR_FORCE")));
    assert!(!colored(&["status"], Some("NO_COLOR")));
    let made = work::made();
    assert!(!made.ok(&["status", "--color", "always"]).stdout.contains('\u{1b}'), "data has no colours");
}
