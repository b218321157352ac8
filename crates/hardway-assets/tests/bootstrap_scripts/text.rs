//! The text of scripts and units: does it parse, does it hang together, does it read only what it is given?

use std::collections::BTreeSet;
use std::process::Command;

use hardway_assets::explain::{Catalogue, Explanation, Kind};
use hardway_assets::ignition::bootstrap_files::{
    ENVIRONMENT, HostFile, IN_PLACE_STAGES, STAGES, Unit, in_place_scripts, in_place_units, scripts, units,
};

use super::host::Host;
use hardway_testing::{run, skipped, succeed};

fn all_scripts() -> Vec<HostFile> {
    scripts().into_iter().chain(in_place_scripts()).filter(|file| file.text.starts_with("#!")).collect()
}

fn all_units() -> Vec<Unit> {
    units().into_iter().chain(in_place_units()).collect()
}

fn installed(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        skipped(&format!("there is no {program}"));
    }
    is_there
}

#[test]
fn bash_reads_every_script() {
    let host = Host::new();
    for script in all_scripts() {
        assert!(
            script.text.lines().nth(1).is_some_and(|line| line.starts_with("# ")),
            "{} says what it is in its second line",
            script.path
        );
        succeed(Command::new("bash").arg("-n").arg(host.path(&script.path[1..])));
    }
}

#[test]
fn shellcheck_finds_nothing() {
    if !installed("shellcheck") {
        return;
    }
    let host = Host::new();
    // All in one folder, so that sourced files are found.
    let name = |script: &HostFile| script.path.rsplit('/').next().unwrap_or_default();
    all_scripts().iter().for_each(|script| host.write(&format!("flat/{}", name(script)), script.text));
    let names: Vec<&str> = all_scripts().iter().map(name).collect();
    let mut shellcheck = Command::new("shellcheck");
    shellcheck.args(["--external-sources", "--source-path=SCRIPTDIR"]).args(names);
    succeed(shellcheck.current_dir(host.path("flat")));
}

/// Upper case is for what comes from outside: bootstrap.env, or a variable that a script gives a default to.
#[test]
fn scripts_read_exactly_the_keys_of_the_environment() {
    let mut used = BTreeSet::new();
    let mut set = BTreeSet::from(
        ["BASH_LINENO", "BASH_REMATCH", "BASH_SOURCE", "EUID", "HOME", "IFS", "LINENO", "PWD", "SECONDS"]
            .map(str::to_owned),
    );
    for script in all_scripts() {
        for line in script.text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            for (at, _) in line.match_indices('$') {
                let name = upper_case(line[at + 1..].trim_start_matches('{').trim_start_matches('#'));
                used.insert(name);
            }
            let assigned = upper_case(line.trim_start().trim_start_matches("local "));
            if line.trim_start().trim_start_matches("local ")[assigned.len()..].starts_with('=') {
                set.insert(assigned);
            }
            // `${NAME:-default}` reads what somebody may set, and manages without.
            for (at, _) in line.match_indices("${") {
                let name = upper_case(&line[at + 2..]);
                if line[at + 2 + name.len()..].starts_with(":-") {
                    set.insert(name);
                }
            }
        }
    }
    used.remove("");
    let from_outside: Vec<&String> = used.difference(&set).collect();
    let mut expected = ENVIRONMENT.to_vec();
    expected.sort_unstable();
    assert_eq!(from_outside, expected);
}

fn upper_case(text: &str) -> String {
    if text.starts_with(|c: char| !c.is_ascii_uppercase()) {
        return String::new();
    }
    text.chars().take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_').collect()
}

#[test]
fn the_readme_explains_every_key_once() {
    let readme = include_str!("../../templates/bootstrap/README.md");
    let (_, table) = readme.split_once("\n## bootstrap.env\n").unwrap();
    let rows = table.lines().take_while(|line| !line.starts_with("## "));
    let explained: Vec<&str> =
        rows.filter_map(|row| row.strip_prefix("| `")?.split_once("` | ")).map(|(key, _)| key).collect();
    assert_eq!(explained, ENVIRONMENT);
}

#[test]
fn no_script_hides_an_error() {
    for script in all_scripts() {
        for (number, line) in script.text.lines().enumerate() {
            assert!(!line.contains("|| true"), "{}:{}", script.path, number + 1);
        }
    }
}

#[test]
fn bootkube_runs_the_stages_it_is_said_to_run() {
    let text = |name: &str| all_scripts().into_iter().find(|s| s.path.ends_with(name)).unwrap().text;
    let stages = |text: &'static str, before: &str| {
        let words = text.split(before).skip(1).map(|rest| rest.split_whitespace().next().unwrap_or_default());
        words.filter(|word| word.contains(|c: char| c.is_ascii_lowercase())).collect::<BTreeSet<&str>>()
    };
    let mut found = stages(text("/bootkube.sh"), "run_stage ");
    found.extend(stages(text("/bootstrap-verify-api-server-urls.sh"), "  verify "));
    assert_eq!(found, STAGES.iter().copied().collect());
    assert_eq!(
        stages(text("/bootstrap-in-place.sh"), "run_stage "),
        IN_PLACE_STAGES.iter().copied().collect()
    );
}

#[test]
fn units_start_scripts_that_exist() {
    let known: BTreeSet<&str> = all_scripts().iter().map(|script| script.path).collect();
    for unit in all_units() {
        for line in unit.text.unwrap_or_default().lines().filter(|line| line.starts_with("Exec")) {
            let program = line.split_once('=').unwrap().1.split(' ').next().unwrap();
            assert!(!program.starts_with("/usr/local/") || known.contains(program), "{}: {line}", unit.name);
        }
    }
}

#[test]
fn units_are_enabled_as_on_openshift_installs_bootstrap_host() {
    let enabled: Vec<&str> = all_units().iter().filter(|u| u.enabled == Some(true)).map(|u| u.name).collect();
    let expected = [
        "chown-gatewayd-key.service",
        "kubelet.service",
        "progress.service",
        "systemd-journal-gatewayd.socket",
        "install-to-disk.service",
    ];
    assert_eq!(enabled, expected);
}

const OS_SERVICES: &str =
    "crio NetworkManager rpc-statd sshd systemd-journal-gatewayd systemd-user-sessions zincati";
const OS_TARGETS: &str = "basic getty local-fs multi-user network network-online shutdown sysinit umount";
const OS_PROGRAMS: &str = "bin/chown bin/mkdir bin/sh bin/true usr/bin/chcon usr/bin/systemctl usr/lib/systemd/systemd-journal-gatewayd";

/// systemd's own opinion, with units of the OS that ours name replaced by empty ones.
#[test]
fn systemd_accepts_the_units() {
    if !installed("systemd-analyze") {
        return;
    }
    let host = Host::new();
    let folder = "etc/systemd/system";
    for unit in all_units().iter().filter(|unit| unit.text.is_some()) {
        host.write(&format!("{folder}/{}", unit.name), unit.text.unwrap_or_default());
    }
    for name in OS_SERVICES.split_whitespace() {
        host.write(&format!("{folder}/{name}.service"), "[Service]\nExecStart=/bin/true\n");
    }
    for name in OS_TARGETS.split_whitespace() {
        host.write(&format!("{folder}/{name}.target"), "[Unit]\nDescription=stand-in\n");
    }
    host.write(&format!("{folder}/run-ephemeral.mount"), "[Mount]\nWhat=tmpfs\nWhere=/run/ephemeral\n");
    for program in OS_PROGRAMS.split_whitespace() {
        host.program(program, "#!/bin/sh\n");
    }
    for unit in all_units() {
        for (name, text) in unit.dropins {
            host.write(&format!("{folder}/{}.d/{name}", unit.name), text);
        }
        if host.has(&format!("{folder}/{}", unit.name)) {
            let mut verify = Command::new("systemd-analyze");
            verify.arg(format!("--root={}", host.path("").display())).args(["--man=no", "verify", unit.name]);
            let (success, output) = run(&mut verify);
            assert!(success && output.is_empty(), "{}: {output}", unit.name);
        }
    }
}

#[test]
fn every_script_unit_and_dropin_is_explained() {
    let catalogue = Catalogue::of_assets();
    let complete =
        |e: &Explanation| [e.what, e.why, e.readers, e.without, e.source].iter().all(|line| !line.is_empty());
    let is_explained = |kind, name: &str| catalogue.get(kind, name).is_some_and(complete);
    for file in scripts().iter().chain(&in_place_scripts()) {
        assert!(is_explained(Kind::File, file.path), "{}", file.path);
    }
    for unit in all_units() {
        assert!(unit.text.is_none() || is_explained(Kind::Unit, unit.name), "{}", unit.name);
        for (dropin, _) in unit.dropins {
            assert!(is_explained(Kind::Unit, &format!("{}/{dropin}", unit.name)), "{}/{dropin}", unit.name);
        }
    }
}
