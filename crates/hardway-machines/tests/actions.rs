//! Actions on a real host: files and programs in a folder of the test's own.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use hardway_journal::{Journal, LiveHistory};
use hardway_machines::actions::{
    Action, ActionCheck, ActionListener, ActionOutcome, Executor, Program, shell,
};
use jiff::Timestamp;

const THEN: Timestamp = Timestamp::UNIX_EPOCH;

/// A folder, a file in it, a file that was there before, and something only programs can make.
fn actions(host: &Path) -> Vec<Action> {
    let link = host.join("pool/link").display().to_string();
    vec![
        Action::folder("pool", "Disks lie here.", host.join("pool")),
        Action::file("pool/note", "Says whose it is.", host.join("pool/it's a note"), "hardway's\n$HOME\n"),
        Action::file(
            "resolver",
            "Names of the cluster.",
            host.join("resolv.conf"),
            "nameserver 192.168.126.1\n",
        ),
        Action::file("own", "In folders that come and go with it.", host.join("etc/own/config"), "deep\n"),
        Action::programs(
            "link",
            "The pool under its usual name.",
            ActionCheck::Prints { program: Program::new("readlink", [&link]), line: "/dev/null".to_owned() },
            [Program::words("ln -sfn /dev/null").with([&link])],
            [Program::words("rm -f").with([&link])],
        ),
    ]
}

/// Everything below a folder: kind, permissions, content.
fn state(host: &Path) -> BTreeMap<String, (u32, String)> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, (u32, String)>) {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs_err::symlink_metadata(&path).unwrap();
            let content = if metadata.is_symlink() {
                fs_err::read_link(&path).unwrap().display().to_string()
            } else if metadata.is_dir() {
                walk(root, &path, found);
                String::new()
            } else {
                fs_err::read_to_string(&path).unwrap()
            };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, (metadata.permissions().mode(), content));
        }
    }
    let mut found = BTreeMap::new();
    walk(host, host, &mut found);
    found
}

struct Site {
    folder: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let site = Self { folder: tempfile::tempdir().unwrap() };
        fs_err::create_dir(site.host()).unwrap();
        fs_err::create_dir(site.work()).unwrap();
        let resolver = site.host().join("resolv.conf");
        fs_err::write(&resolver, "nameserver 10.0.0.1\n").unwrap();
        fs_err::set_permissions(&resolver, std::fs::Permissions::from_mode(0o640)).unwrap();
        site
    }

    fn host(&self) -> std::path::PathBuf {
        self.folder.path().join("host")
    }

    fn work(&self) -> std::path::PathBuf {
        self.folder.path().join("work")
    }

    fn with<T>(&self, now: &dyn Fn() -> Timestamp, f: impl FnOnce(&Executor<'_>) -> T) -> T {
        let journal = Journal::open(&self.work().join(hardway_journal::FILE_NAME)).unwrap();
        f(&Executor::new(&self.work(), &journal, now))
    }

    fn up(&self) -> Vec<ActionOutcome> {
        #[derive(Default)]
        struct Outcomes(Vec<ActionOutcome>);
        impl ActionListener for Outcomes {
            fn holds(&mut self, _: &Action, outcome: ActionOutcome) {
                self.0.push(outcome);
            }
        }
        let mut outcomes = Outcomes::default();
        self.with(&|| THEN, |executor| executor.up(&actions(&self.host()), &mut outcomes)).unwrap();
        outcomes.0
    }

    fn down(&self) {
        self.with(&|| THEN, |executor| executor.down(&mut ())).unwrap();
    }
}

#[test]
fn up_twice_changes_nothing_and_down_brings_back_what_was_there() {
    let site = Site::new();
    let before = state(&site.host());
    assert_eq!(site.up(), [ActionOutcome::Done; 5]);
    let built = state(&site.host());
    assert_eq!(built["resolv.conf"], (0o100_644, "nameserver 192.168.126.1\n".to_owned()));
    let journal = fs_err::read(site.work().join("journal.jsonl")).unwrap();
    assert_eq!(site.up(), [ActionOutcome::AlreadyHeld; 5]);
    assert_eq!(fs_err::read(site.work().join("journal.jsonl")).unwrap(), journal);
    site.down();
    assert_eq!(state(&site.host()), before);
    assert!(!site.work().join("host-before").exists());
    assert_eq!(site.up(), [ActionOutcome::Done; 5]);
    assert_eq!(state(&site.host()), built);
}

#[test]
fn what_was_there_before_is_nobodys_to_take_away() {
    let site = Site::new();
    fs_err::create_dir(site.host().join("pool")).unwrap();
    fs_err::write(site.host().join("pool/disk"), "precious").unwrap();
    let before = state(&site.host());
    assert_eq!(site.up()[0], ActionOutcome::AlreadyHeld);
    site.down();
    assert_eq!(state(&site.host()), before);
}

/// The clock is read right before each record is written: there a run can be cut off.
#[test]
fn cut_off_at_any_record_both_ways_go_on() {
    let dies_at = |record: u32| {
        let left = Cell::new(record);
        move || {
            assert!(left.get() > 0, "cut off here");
            left.set(left.get() - 1);
            THEN
        }
    };
    let mut cuts = 0;
    for record in 0.. {
        let site = Site::new();
        let before = state(&site.host());
        let cut = |site: &Site, f: &dyn Fn(&Executor<'_>)| {
            let now = dies_at(record);
            catch_unwind(AssertUnwindSafe(|| site.with(&now, |executor| f(executor)))).is_err()
        };
        let up = cut(&site, &|executor| executor.up(&actions(&site.host()), &mut ()).unwrap());
        site.down();
        assert_eq!(state(&site.host()), before, "down after up was cut off at {record}");
        site.up();
        let down = cut(&site, &|executor| executor.down(&mut ()).unwrap());
        site.down();
        assert_eq!(state(&site.host()), before, "down after down was cut off at {record}");
        cuts += u32::from(up) + u32::from(down);
        if !up && !down {
            break;
        }
    }
    assert_eq!(cuts, 10 + 5, "every record was cut off once: two for each action up, one down");
}

/// A run that was killed leaves the program of its step behind, which may end before or after the next run begins.
#[test]
fn what_somebody_else_finishes_meanwhile_counts_as_done() {
    let site = Site::new();
    let made = site.host().join("made").display().to_string();
    let action = |does: String| {
        let holds = ActionCheck::Succeeds(Program::new("test", ["-e", &made]));
        let does = Program::new("sh", ["-c", &does]);
        Action::programs("made", "It is there.", holds, [does], [Program::new("rm", ["-f", &made])])
    };
    let refused = || {
        let refused = site.with(&|| THEN, |executor| executor.up(&[action("exit 1".to_owned())], &mut ()));
        assert!(refused.is_err(), "nobody was at it");
    };
    let at_once = [action(format!("touch {made}; echo exists already >&2; exit 1"))];
    let first = site.with(&|| THEN, |executor| executor.up(&at_once, &mut ()));
    assert!(first.is_err(), "nobody had begun it: whatever it made, it failed");
    site.down();
    refused();
    site.with(&|| THEN, |executor| executor.up(&at_once, &mut ())).unwrap();
    site.down();
    refused();
    let later = [action(format!("(sleep 0.3; touch {made}) >/dev/null 2>&1 & echo busy >&2; exit 1"))];
    site.with(&|| THEN, |executor| executor.up(&later, &mut ())).unwrap();
    site.down();
    assert!(!site.host().join("made").exists());
}

#[test]
fn shared_books_know_what_others_did_and_forget_a_journal_that_is_gone() {
    let site = Site::new();
    let path = site.work().join(hardway_journal::FILE_NAME);
    let books = Arc::new(Mutex::new(LiveHistory::of(&path)));
    let owned = |books: &Mutex<LiveHistory>| {
        let mut books = books.lock().unwrap();
        books.now().unwrap().actions.iter().map(|owned| owned.action.clone()).collect::<Vec<_>>()
    };
    site.up();
    assert_eq!(owned(&books), ["pool", "pool/note", "resolver", "own", "link"], "another executor's");
    let journal = Journal::open(&path).unwrap();
    let now = || THEN;
    let executor = Executor::new(&site.work(), &journal, &now).with_history(Arc::clone(&books));
    executor.take_back(|action| action == "link", &mut ()).unwrap();
    assert!(!site.host().join("pool/link").is_symlink());
    assert_eq!(owned(&books), ["pool", "pool/note", "resolver", "own"]);
    site.up();
    assert_eq!(owned(&books).last().unwrap(), "link", "and done again by another one");
    drop(executor);
    drop(journal);
    fs_err::rename(&path, path.with_extension("before")).unwrap();
    let journal = Journal::open(&path).unwrap();
    let executor = Executor::new(&site.work(), &journal, &now).with_history(Arc::clone(&books));
    fs_err::remove_file(site.host().join("resolv.conf")).unwrap();
    executor.up(&actions(&site.host()), &mut ()).unwrap();
    assert_eq!(owned(&books), ["resolver"], "the new journal says nothing of the others");
}

#[test]
fn a_failing_step_says_what_was_run_and_what_it_said() {
    let site = Site::new();
    let refused = |program: Program| {
        let action = Action::programs(
            "bad",
            "Nothing.",
            ActionCheck::Succeeds(Program::words("false")),
            [program],
            [],
        );
        let error = site.with(&|| THEN, |executor| executor.up(&[action], &mut ())).unwrap_err();
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    };
    let text = refused(Program::new("sh", ["-c", "echo no space >&2; exit 3"]));
    assert_eq!(
        text,
        "bad: Nothing.: `sh -c 'echo no space >&2; exit 3'` failed with exit status: 3: no space"
    );
    let text = refused(Program::words("no-such-program at-all"));
    assert!(text.starts_with("bad: Nothing.: `no-such-program at-all` could not be started: "), "{text}");
    assert_eq!(
        refused(Program::words("true")),
        "bad: all steps succeeded, but the result is not as expected: Nothing."
    );
}

/// The script does the same, and may be run twice as well.
#[test]
fn the_script_does_what_the_executor_does() {
    let (by_script, by_executor) = (Site::new(), Site::new());
    by_executor.up();
    let script = shell(&actions(&by_script.host()));
    for _ in 0..2 {
        let output = Command::new("bash").arg("-c").arg(&script).output().unwrap();
        assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(state(&by_script.host()), state(&by_executor.host()));
    }
}
