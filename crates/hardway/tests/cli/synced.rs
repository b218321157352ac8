//! What a run says it has made is on the disk by then: keys and `assets.lock` outlive a power cut.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, succeed};

use crate::work;

/// The calls that give files their names and put them on the disk, and what is said meanwhile.
const CALLS: &str = "trace=fsync,rename,renameat,renameat2,mkdir,mkdirat,write";

/// The strings among a call's arguments: paths, but for those that come with a descriptor.
fn strings(call: &str) -> impl Iterator<Item = &str> {
    call.split('"').skip(1).step_by(2)
}

fn whole(root: &Path, path: &str) -> PathBuf {
    root.join(path).components().filter(|part| *part != Component::CurDir).collect()
}

/// Fails at the first file that gets its name before its content is on the disk; gives back the files and folders that were
/// named, and those whose names are still not on the disk when the run says that it is done.
fn walk(trace: &str, root: &Path) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let (mut synced, mut named, mut loose) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::<PathBuf>::new());
    for line in trace.lines() {
        let call = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
        if call.starts_with("fsync(") {
            let path = PathBuf::from(call.split(['<', '>']).nth(1).unwrap());
            loose.retain(|name| name.parent() != Some(&path));
            synced.insert(path);
        } else if call.starts_with("rename") {
            let mut paths = strings(call).map(|path| whole(root, path));
            let (from, to) = (paths.next().unwrap(), paths.next().unwrap());
            assert!(synced.contains(&from), "{} is not synced before it is there", to.display());
            named.insert(to.clone());
            loose.insert(to);
        } else if call.starts_with("mkdir") && call.contains(" = 0") {
            loose.extend(strings(call).next().map(|path| whole(root, path)));
        } else if call.contains("already up to date") {
            return (named, loose);
        }
    }
    panic!("the run did not say that it is done:\n{trace}");
}

#[test]
fn keys_and_the_lock_are_on_the_disk_before_a_run_says_so() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let root = work.root().canonicalize().unwrap();
    let (trace, run) = (root.join("trace"), work.command(&["create", "manifests"]));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "300", "-e", CALLS, "-o"]).arg(&trace);
    strace.arg(run.get_program()).args(run.get_args());
    run.get_current_dir().map(|folder| strace.current_dir(folder));
    for (name, value) in run.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    succeed(&mut strace);
    let (named, loose) = walk(&fs_err::read_to_string(&trace).unwrap(), &root);
    for path in
        ["secrets/identity.json", "secrets/root-ca.key", "secrets/ssh-host-master-0.key", "assets.lock"]
    {
        assert!(named.contains(&root.join(path)), "{path} was not made: {named:#?}");
    }
    assert!(loose.is_empty(), "a power cut takes these away: {loose:#?}");
}
