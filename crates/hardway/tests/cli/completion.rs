//! Completion, as bash itself does it.

use std::process::Command;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran, Work};

use crate::work;

/// What bash offers behind this line, whose words are given as bash splits them.
fn offered(work: &Work, words: &[&str]) -> Vec<String> {
    let script = r#"
        source completion.bash
        COMP_WORDS=(hardway "$@") COMP_CWORD=$#
        _hardway
        printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-uo", "pipefail", "-c", script, "bash"]).args(words).current_dir(work.root());
    // The program is called as it was typed.
    let path = std::path::Path::new(work::PROGRAM).parent().unwrap().display().to_string();
    bash.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap_or_default()))
        .env_remove("HARDWAY_DIR");
    let told = Ran::of(bash).expect(0).stdout;
    told.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn folder() -> Work {
    let work = work::empty();
    fs_err::create_dir(work.path("my cluster")).unwrap();
    work.write("my cluster/install-config.yaml", INSTALL_CONFIG);
    work.write("my cluster/inventory.yaml", INVENTORY);
    work.write("completion.bash", work.ok(&["completion", "bash"]).stdout);
    work
}

#[test]
fn bash_offers_commands_flags_phases_checks_assets_topics_and_hosts() {
    let work = folder();
    for (words, expected) in [
        (&["create", "clu"][..], &["cluster"][..]),
        (&["status", "--exit"], &["--exit-code"]),
        // Bash takes words apart at an equals sign, and replaces what stands behind it.
        (&["status", "--color", "=", "ne"], &["never"]),
        (&["phase", "run", "await-b"], &["await-bootstrap"]),
        (&["check", "--skip-check", "names-ap"], &["names-apps"]),
        (&["explain", "etcd-signe"], &["etcd-signer"]),
        (&["explain", "bootstrap-igni"], &["bootstrap-ignition"]),
        (&["--dir", "'my cluster'", "node", "add", "work"], &["worker-0"]),
        (
            &["--dir", "my\\ cluster", "bmc", "status", "--host", "master-"],
            &["master-0", "master-1", "master-2"],
        ),
        (&["node", "add", "work"], &[]),
        (&["media", "show", ""], &[]),
        (&["conquer", ""], &[]),
    ] {
        assert_eq!(offered(&work, words), expected, "{words:?}");
    }
    assert!(offered(&work, &["phase", "explain", ""]).len() > 15);
}

/// With the key itself, at a terminal.
#[test]
fn bash_completes_when_the_key_is_pressed() {
    let work = folder();
    let path = std::path::Path::new(work::PROGRAM).parent().unwrap().display().to_string();
    let mut bash = Command::new("bash");
    let script = r"printf '%b' 'source completion.bash\nhardway phase explain make-kub\t\nexit\n' |
        script --quiet --command 'bash --norc --noprofile -i' /dev/null";
    bash.args(["-c", script]).current_dir(work.root());
    bash.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap_or_default())).env("TERM", "dumb");
    let told = Ran::of(bash).stdout;
    assert!(told.contains("make-kubeconfigs: "), "{told}");
}

#[test]
fn every_shell_gets_a_script_and_hints_where_to_put_it() {
    let work = work::empty();
    let help = work.ok(&["completion", "--help"]).stdout;
    for place in ["bash-completion/completions/hardway", ".zfunc/_hardway", "fish/completions/hardway.fish"] {
        assert!(help.contains(place), "{place}: {help}");
    }
    let zsh = work.ok(&["completion", "zsh", "--", "phase", "run", "make-k"]).stdout;
    assert!(zsh.starts_with("make-kubeconfigs:"), "{zsh}");
    let fish = work.ok(&["completion", "fish", "--", "phase", "run", "make-k"]).stdout;
    assert!(fish.starts_with("make-kubeconfigs\t"), "{fish}");
    assert!(!work.ok(&["completion", "elvish"]).stdout.is_empty());
}
