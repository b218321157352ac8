//! What can be typed, and how it is printed.

use hardway_testing::{INSTALL_CONFIG, INVENTORY};

use super::world::World;
use crate::work;

#[test]
fn the_table_is_grouped_and_says_what_to_do() {
    let mut world = World::of("lab");
    world.files.insert("/proc/sys/fs/inotify/max_user_instances", "128\n".to_owned());
    world.set_up += "mount -o remount,bind,ro /proc/sys/fs/inotify/max_user_instances\n";
    world.arguments.extend(["--output", "text", "--skip-check", "clock"]);
    let seen = world.check();
    assert_eq!(seen.code, Some(2), "{seen:#?}");
    let lines: Vec<&str> = seen.stdout.lines().map(str::trim_end).collect();
    assert_eq!(lines[0], "host");
    let line = |begin: &str| {
        *lines
            .iter()
            .find(|line| line.trim_start().starts_with(begin))
            .unwrap_or_else(|| panic!("{begin}: {seen:#?}"))
    };
    assert!(line("failed  inotify").ends_with("6 machines need 192"));
    assert_eq!(line("fix: sysctl").trim_start(), "fix: sysctl -w fs.inotify.max_user_instances=384");
    assert!(line("skipped clock").ends_with("skipped on request"));
    let groups: Vec<&&str> =
        lines.iter().filter(|line| !line.starts_with(' ') && !line.contains("passed")).collect();
    // Those of which nothing applies have no heading: they are one line.
    assert_eq!(groups[..2], [&"host", &"capacity"]);
    assert!(
        groups[2].starts_with("not applicable (--all shows why): names-server, names-records, "),
        "{groups:?}"
    );
    assert_eq!(groups.len(), 3, "{groups:?}");
    assert!(!seen.stdout.contains("gcloud"), "what is about others is left out");
    assert!(
        seen.stderr.contains("error[preflight-failed]: 1 of ")
            && seen.stderr.contains(" checks failed: inotify\n"),
        "{}",
        seen.stderr
    );
}

#[test]
fn why_checks_do_not_apply_is_said_when_all_is_asked_for() {
    let mut world = World::of("lab");
    world.arguments.extend(["--output", "text", "--all"]);
    let seen = world.check();
    let groups: Vec<&str> = seen.stdout.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        groups[..groups.len() - 1],
        ["host", "names", "balancer", "network", "registry", "capacity", "certificates"]
    );
    assert!(seen.stdout.contains("  not-applicable names-server "), "{}", seen.stdout);
}

#[test]
fn a_check_that_failed_can_be_left_out_and_one_can_be_asked_alone() {
    let mut world = World::of("lab");
    world.programs.remove("jq");
    world.arguments.extend(["--skip-check", "programs"]);
    let seen = world.check();
    assert_eq!((seen.code, seen.with("skipped")), (Some(0), vec!["programs".to_owned()]), "{seen:#?}");
    world.arguments = vec!["--only", "programs", "--only", "root"];
    let seen = world.check();
    assert_eq!((seen.code, seen.with("failed")), (Some(2), vec!["programs".to_owned()]));
    assert_eq!(seen.with("passed"), ["root"]);
    assert_eq!(seen.with("not-applicable"), [""; 0]);
}

#[test]
fn a_check_that_is_about_others_is_not_called_passed() {
    let disk = |line: &str| line.replace("}", ", installDisk: /dev/sda}");
    let work = work::with_inputs(
        INSTALL_CONFIG,
        &INVENTORY.lines().map(|line| disk(line) + "\n").collect::<String>(),
    );
    let ran = work.refused(2, &["check", "--only", "kvm", "--only", "certificates", "--only", "inotify"]);
    let ran = ran.says("error[usage]: inotify only applies to lab, kvm only applies to libvirt: the provider of the inventory is bare-metal");
    assert_eq!(ran.says("hardway check --list").stdout, "");
    let ran = work.ok(&["check", "--only", "certificates"]);
    assert!(ran.stdout.contains("certificates"), "{}", ran.stdout);
    let list = work.ok(&["check", "--list"]).stdout;
    assert!(list.lines().any(|line| line.contains(" kvm ") && line.ends_with("(libvirt)")), "{list}");
}

#[test]
fn names_that_no_check_has_are_refused() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    for flag in ["--skip-check", "--only"] {
        let ran = work.refused(2, &["check", flag, "nonsense"]);
        ran.says("error[usage]: no such check: \"nonsense\"").says("names-apps");
    }
}

#[test]
fn the_list_names_every_check_and_asks_nobody() {
    let work = work::empty();
    let listed = work.ok(&["check", "--list"]).stdout;
    assert_eq!(listed.lines().count(), hardway_machines::preflight::CHECKS.len());
    assert!(listed.contains("names-apps") && listed.contains("Do names under apps resolve to ingressVIP?"));
    let json = work.ok(&["check", "--list", "-o", "json"]).stdout;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let kvm = rows.iter().find(|row| row["check"] == "kvm").unwrap();
    assert_eq!(
        (kvm["providers"].to_string(), kvm["group"].to_string()),
        (r#"["libvirt"]"#.to_owned(), r#""host""#.to_owned())
    );
    assert!(work.ok(&["explain", "names-apps"]).stdout.starts_with("names-apps (check)\n  asks "));
}

#[test]
fn mistakes_in_the_files_come_first() {
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("role: worker", "role: nobody"));
    work.refused(3, &["check"]).says("error[inventory-invalid]");
    work::empty().refused(3, &["check"]).says("error[config-missing]");
}
