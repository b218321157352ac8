//! The program cut off after every action, and run again.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};

use hardway_testing::{Work, inside_with_libvirt, until};
use serde_json::Value;

use super::site::{host, inventory, on_libvirt};

/// Shorter than any record, longer than the difference between two runs: numbers have more or fewer digits.
const SLACK: usize = 60;

/// One record: what it tells, and how long its line is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    what: String,
    length: usize,
}

/// The whole lines of the journal.
fn told(folder: &Work) -> Vec<Told> {
    let text = fs_err::read_to_string(folder.path(hardway_journal::FILE_NAME)).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            Told { what: format!("{} {}", record["kind"], record["body"]["action"]), length: line.len() }
        })
        .collect()
}

/// Ends it without a word as soon as its journal would have more than so many bytes: in the middle of a line. No clock is
/// involved, so it is the same record on every computer.
fn cut_off_at(folder: &Work, words: &[&str], bytes: usize) -> Output {
    let hardway = folder.command(words);
    let mut command = Command::new("prlimit");
    command.arg(format!("--fsize={bytes}:unlimited")).arg(hardway.get_program()).args(hardway.get_args());
    command.current_dir(folder.path("")).env_remove("HARDWAY_NOW").env_remove("KUBECONFIG");
    command.stdin(Stdio::null()).output().unwrap()
}

/// Lets it write the next so many records of an undisturbed run and cuts it off in the one after them; then begins anew.
fn cut_off_again_and_again(folder: &Work, words: &[&str], undisturbed: &[Told], counts: &[usize]) {
    let before = told(folder).len();
    let mut done = 0;
    for count in counts {
        let size: usize = told(folder).iter().map(|told| told.length).sum();
        let next: usize = undisturbed[done..][..*count].iter().map(|told| told.length).sum();
        done += count;
        let Output { status, stderr, .. } = cut_off_at(folder, words, size + next + SLACK);
        let (last, said) = (&undisturbed[done - 1].what, String::from_utf8_lossy(&stderr));
        let is_end = done == undisturbed.len();
        assert_eq!(
            (status.success(), status.signal().is_some()),
            (is_end, !is_end),
            "{last}: {status}: {said}"
        );
        let what = |told: &[Told]| told.iter().map(|told| told.what.clone()).collect::<Vec<_>>();
        assert_eq!(what(&told(folder)[before..]), what(&undisturbed[..done]), "so many records and no other");
    }
    assert_eq!(done, undisturbed.len());
}

#[test]
fn cut_off_after_every_action_up_and_down_go_on() {
    if !inside_with_libvirt() {
        return;
    }
    let (folder, before) = (on_libvirt(&inventory()), host());
    folder.ok(&["infra", "up"]);
    let (built, up) = (host(), told(&folder));
    folder.ok(&["infra", "down", "--yes"]);
    assert_eq!(host(), before);
    let down = told(&folder)[up.len()..].to_vec();
    assert_eq!(up.len(), 2 * down.len(), "each begun, each finished, each taken back: {up:?} {down:?}");

    let folder = on_libvirt(&inventory());
    // Every time right after an action was carried out, and before that was written down.
    let counts: Vec<usize> = [&[1][..], &vec![2; down.len() - 1], &[1]].concat();
    cut_off_again_and_again(&folder, &["infra", "up"], &up, &counts);
    assert_eq!(host(), built);
    let said = folder.run(&["infra", "up"]).stderr;
    assert!(said.contains("0 created now"), "{said}");
    cut_off_again_and_again(&folder, &["infra", "down", "--yes"], &down, &vec![1; down.len()]);
    assert_eq!(host(), before);
}

/// SIGKILL in the middle of an action, whose program goes on alone: `down` needs no other `up`, and `up` goes on.
#[test]
fn killed_in_the_middle_of_an_action_both_ways_go_on() {
    if !inside_with_libvirt() {
        return;
    }
    let before = host();
    for (action, then) in [("network/active", "up"), ("balancer/haproxy", "down")] {
        let folder = on_libvirt(&inventory());
        let run = folder.start(&["infra", "up"]);
        let begun = format!("\"action-started\" \"{action}\"");
        until(action, || told(&folder).iter().any(|told| told.what == begun));
        drop(run);
        folder.ok(&[&["infra", then][..], if then == "down" { &["--yes"] } else { &[] }].concat());
        folder.ok(&["infra", "down", "--yes"]);
        assert_eq!(host(), before, "{action}");
    }
}
