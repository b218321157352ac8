//! Whoever names a file answers for it: the command line with 2, the folder with 3.

use std::net::TcpListener;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Running, Snapshot};

use crate::work;

/// What a verb reads of a folder.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reads {
    /// Nothing, or only what the command line names.
    Nothing,
    /// What is there; both input files may be missing or wrong.
    Folder,
    /// Other things, or it makes them: that the folder is not as wanted is a wrong command line.
    Makes,
    /// Both input files, sooner or later.
    Inputs,
}
use Reads::{Folder, Inputs, Makes, Nothing};

/// What may be wrong, whatever the verb does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    /// A flag that there is not.
    Word,
    /// A variable of the environment that makes no sense.
    Clock,
    /// `--dir` names nothing.
    NoFolder,
    /// `--dir` names a file.
    NotAFolder,
    /// Neither input file is there.
    NoFiles,
    /// install-config.yaml says what cannot be.
    Mistake,
    /// inventory.yaml is no YAML.
    NoYaml,
    /// inventory.yaml is a folder.
    FolderForFile,
}

impl Reason {
    const ALL: [Self; 8] = [
        Self::Word,
        Self::Clock,
        Self::NoFolder,
        Self::NotAFolder,
        Self::NoFiles,
        Self::Mistake,
        Self::NoYaml,
        Self::FolderForFile,
    ];

    /// What every verb that reads so much of a folder ends with. `None` where it is not concerned.
    fn code(self, verb: &str, reads: Reads) -> Option<i32> {
        let exception = EXCEPTIONS.iter().find(|(other, reason, _)| *other == verb && *reason == self);
        if let Some((.., code)) = exception {
            return Some(*code);
        }
        match (self, reads) {
            (Self::Word | Self::Clock, _) => Some(2),
            (_, Nothing) => None,
            (Self::NoFolder, Makes) => None,
            (Self::NoFolder | Self::NotAFolder, _) => Some(2),
            (_, Inputs) => Some(3),
            (_, Folder) => Some(0),
            (_, Makes) => Some(2),
        }
    }

    /// The folder, and what is typed before the verb.
    fn site(self) -> (hardway_testing::Work, &'static [&'static str]) {
        let work = work::empty();
        let (mut config, mut inventory) = (INSTALL_CONFIG.to_owned(), INVENTORY.to_owned());
        match self {
            Self::NoFiles => return (work, &[]),
            Self::NoFolder => return (work, &["--dir", "nowhere"]),
            Self::NotAFolder => {
                work.write("file", "");
                return (work, &["--dir", "file"]);
            }
            Self::FolderForFile => {
                work.write("install-config.yaml", config);
                work.write("inventory.yaml/file", "");
                return (work, &[]);
            }
            Self::Mistake => config = config.replace("hostPrefix: 23", "hostPrefix: 33"),
            Self::NoYaml => "{a: [\n".clone_into(&mut inventory),
            Self::Word | Self::Clock => {}
        }
        (work.with_inputs(&config, &inventory), &[])
    }
}

/// Verbs that are not concerned by something, or have an answer to it.
const EXCEPTIONS: &[(&str, Reason, i32)] = &[
    // These are what makes the files.
    ("create install-config", Reason::NoFiles, 0),
    ("hosted init", Reason::NoFiles, 0),
    ("init", Reason::NoFiles, 0),
    // An example's.
    ("graph", Reason::NoFiles, 0),
    // Of clouds and hypervisors, without hosts.
    ("media limits", Reason::NoFiles, 0),
    // The release is the inventory's affair, and the built-in one has no media and is in no registry.
    ("release media", Reason::Mistake, 1),
    ("release bundle", Reason::Mistake, 2),
];

/// Every verb, and what it has to be given.
const VERBS: &[(&str, &str, Reads)] = &[
    ("approve", "", Inputs),
    ("approve declared", "", Inputs),
    ("approve simulate", "requests.yaml", Inputs),
    ("bmc boot-once-cd", "--host master-0", Inputs),
    ("bmc boot-once-pxe", "--host master-0", Inputs),
    ("bmc by-hand", "", Inputs),
    ("bmc eject", "--host master-0", Inputs),
    ("bmc insert", "--host master-0", Inputs),
    ("bmc power-off", "--host master-0", Inputs),
    ("bmc power-on", "--host master-0", Inputs),
    ("bmc seen", "--host master-0", Inputs),
    ("bmc shut-down", "--host master-0", Inputs),
    ("bmc status", "--host master-0", Inputs),
    ("certs", "", Inputs),
    ("certs recover", "", Inputs),
    ("check", "--only names-apps", Inputs),
    ("check images", "", Inputs),
    ("check manifests", "", Inputs),
    ("completion", "bash", Nothing),
    ("create cluster", "", Inputs),
    ("create ignition-configs", "", Inputs),
    ("create install-config", "", Makes),
    ("create manifests", "", Inputs),
    ("create single-node-ignition-config", "", Inputs),
    ("day2 apply", "trust", Inputs),
    ("day2 check", "trust", Inputs),
    ("day2 list", "", Inputs),
    ("day2 plan", "trust", Inputs),
    ("day2 undo", "trust", Folder),
    ("destroy", "", Folder),
    ("diagnose", "", Inputs),
    ("diff", "--against .", Makes),
    ("etcd backup", "--recipient age1tcea3m6zdje2494zrjqw3axreejsedtuu8a5p0hsa9ctt33mns4s3na0xu", Inputs),
    ("etcd defrag", "", Inputs),
    ("etcd members", "", Inputs),
    ("etcd prove", "etcd.tar.age --identity backup.key", Nothing),
    ("etcd restore", "etcd.tar.age --identity backup.key", Inputs),
    ("etcd status", "", Inputs),
    ("explain", "pki", Nothing),
    ("gather bootstrap", "", Inputs),
    ("graph", "", Inputs),
    ("hosted cluster create", "guest", Nothing),
    ("hosted cluster delete", "guest", Nothing),
    ("hosted cluster kubeconfig", "guest", Nothing),
    ("hosted cluster render", "guest", Nothing),
    ("hosted cluster status", "guest", Nothing),
    ("hosted controller", "--cluster guest", Inputs),
    ("hosted doctor", "--cluster guest", Nothing),
    ("hosted init", "", Makes),
    ("hosted leftovers", "", Inputs),
    ("hosted nodepool create", "pool --cluster guest", Nothing),
    ("hosted nodepool delete", "pool --cluster guest", Nothing),
    ("hosted nodepool list", "--cluster guest", Nothing),
    ("hosted nodepool status", "pool --cluster guest", Nothing),
    ("hosted ovn", "--cluster guest", Nothing),
    ("hosted plan", "", Inputs),
    ("hosted stand-in", "--cluster guest", Nothing),
    ("hosted token", "", Nothing),
    ("hosted up", "--cluster guest", Inputs),
    ("hosted verify", "--cluster guest", Nothing),
    ("hosted workers add", "--cluster guest", Nothing),
    ("hosted workers list", "--cluster guest", Nothing),
    ("hosted workers remove", "worker --cluster guest", Nothing),
    ("hosted workers replace", "worker --cluster guest", Nothing),
    ("hosted workers scale", "1 --cluster guest", Nothing),
    ("infra down", "", Folder),
    ("infra plan", "", Inputs),
    ("infra status", "", Inputs),
    ("infra up", "", Inputs),
    ("init", "", Makes),
    ("lab logs", "master-0", Inputs),
    ("lab release", "--programs bin", Inputs),
    ("lab run", "-- true", Inputs),
    ("lab shell", "master-0", Inputs),
    ("man", "", Nothing),
    ("media dhcp", "--format kea --to x.json", Inputs),
    ("media embed", "no.iso", Nothing),
    ("media iso", "--all", Inputs),
    ("media limits", "", Inputs),
    ("media pxe", "--url http://192.0.2.2:8080", Inputs),
    ("media remove", "no.iso", Nothing),
    ("media serve", "--listen 127.0.0.1:0", Inputs),
    ("media show", "no.iso", Nothing),
    ("media urls", "--url http://192.0.2.2:8080", Inputs),
    ("node add", "worker-0", Inputs),
    ("node remove", "worker-0 --yes", Inputs),
    ("node replace", "master-1", Inputs),
    ("page", "--export page.html", Folder),
    ("phase explain", "make-pki", Nothing),
    ("phase list", "", Nothing),
    ("phase redo", "make-pki", Inputs),
    ("phase run", "make-pki", Inputs),
    ("plan", "", Inputs),
    ("power off", "--without-backup --dry-run", Inputs),
    ("power on", "--dry-run", Inputs),
    ("release bundle", "--to ocp.tar", Inputs),
    ("release extract", "127.0.0.1:1/a:1 --file x", Nothing),
    ("release info", "127.0.0.1:1/a:1", Nothing),
    ("release media", "", Inputs),
    ("release mirror", "127.0.0.1:1/a:1 --to-dir x", Nothing),
    ("release serve", "ocp.tar --listen 127.0.0.1:0", Nothing),
    ("serve", "--listen 127.0.0.1:0", Inputs),
    ("status", "", Inputs),
    ("validate", "", Inputs),
    ("validate schema", "inventory", Nothing),
    ("verify", "", Inputs),
    ("version", "", Nothing),
    ("wait-for bootstrap-complete", "", Inputs),
    ("wait-for install-complete", "", Inputs),
];

fn words(verb: &str, arguments: &str, first: &[&'static str]) -> Vec<String> {
    let given = verb.split(' ').chain(arguments.split(' ')).filter(|word| !word.is_empty());
    first.iter().copied().chain(given).map(str::to_owned).collect()
}

/// Verb by verb and reason by reason; and its help lists what it ends with.
#[test]
fn every_verb_ends_with_the_code_of_its_reason() {
    let pages = work::empty();
    pages.ok(&["man", "--to", "."]);
    let all: Vec<String> = Snapshot::of(pages.root()).paths().map(str::to_owned).collect();
    let mut known: Vec<String> =
        VERBS.iter().map(|(verb, ..)| format!("hardway-{}.1", verb.replace(' ', "-"))).collect();
    let mut leaves = all.clone();
    let stem = |page: &String| page.trim_end_matches(".1").to_owned();
    // These do something by themselves too.
    let both = ["hardway-approve.1", "hardway-certs.1", "hardway-check.1", "hardway-validate.1"];
    leaves.retain(|page| {
        both.contains(&page.as_str())
            || !all.iter().any(|other| other.starts_with(&format!("{}-", stem(page))))
    });
    leaves.sort();
    known.sort();
    assert_eq!(leaves, known, "a verb without a row, or a row without a verb");

    for (verb, arguments, reads) in VERBS {
        let verb_words: Vec<&str> = verb.split(' ').collect();
        let help = pages.ok(&[&verb_words[..], &["--help"]].concat()).stdout;
        for reason in Reason::ALL {
            let Some(expected) = reason.code(verb, *reads) else { continue };
            let (work, first) = reason.site();
            let mut words = words(verb, arguments, first);
            if reason == Reason::Word {
                words = verb_words.iter().copied().chain(["--cucumber"]).map(str::to_owned).collect();
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ran = match reason {
                Reason::Clock => work.run_at("yesterday", &words),
                _ => work.run(&words),
            };
            assert_eq!(ran.code, Some(expected), "{verb}, {reason:?}: {}", ran.stderr);
            assert!(help.contains(&format!("\n  {expected}  ")), "{verb}: {expected} is not in its help");
        }
    }
}

/// Also what never looks for it: drawing keys, and a registry that says nothing.
#[test]
fn a_person_who_presses_ctrl_c_gets_eight_everywhere() {
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("ECDSA-P256", "RSA-2048"));
    for verb in [&["create", "ignition-configs"][..], &["create", "manifests"]] {
        let mut run = Running::start(work.command(verb));
        run.until_so("Ctrl-C is looked for", {
            let status = format!("/proc/{}/status", run.id());
            move || is_caught(&fs_err::read_to_string(&status).unwrap_or_default())
        });
        assert_eq!(run.interrupt(), Some(8), "{verb:?}: {}", run.said());
        assert!(run.said().contains("error[interrupted]"), "{}", run.said());
        assert!(!work.exists("bootstrap.ign"));
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let image = format!("{}/release:1", silent.local_addr().unwrap());
    for verb in [
        &["release", "info", &image][..],
        &["release", "extract", &image, "--file", "x"],
        &["release", "mirror", &image, "--to-dir", "x"],
        &["release", "bundle", &image, "--to", "x"],
    ] {
        let mut run = Running::start(work::empty().with_real_clock().command(verb));
        let asked = silent.accept().unwrap();
        assert_eq!(run.interrupt(), Some(8), "{verb:?}: {}", run.said());
        drop(asked);
    }
}

/// Whether a process has a handler for SIGINT.
fn is_caught(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    line.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 0b10 != 0))
}

#[test]
fn a_pull_secret_that_is_none_is_the_mistake_of_who_names_it() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.write("passwd", "root:x:0:0::/root:/bin/bash\n");
    let ran = work.refused(2, &["release", "info", "127.0.0.1:1/a:1", "--pull-secret", "passwd"]);
    ran.says("error[pull-secret-invalid]: passwd").does_not_say("/bin/bash");
}

/// Also where no registry is asked: the built-in sample, a folder, a release that is kept.
#[test]
fn what_is_named_to_check_a_release_with_is_read_and_not_checking_is_said() {
    let work = work::made();
    work.write("passwd", "root:x:0:0::/root:/bin/bash\n");
    let manifests = ["create", "manifests"];
    let with = |more: &[&'static str]| [&manifests[..], more].concat();
    work.refused(2, &with(&["--keyring", "missing"])).says("missing");
    work.refused(2, &with(&["--keyring", "passwd", "--signature", "missing"])).says("missing");
    work.refused(2, &with(&["--trust-bundle", "missing"])).says("missing");
    work.refused(2, &with(&["--pull-secret", "passwd"]))
        .says("error[pull-secret-invalid]: passwd")
        .does_not_say("/bin/bash");
    let unchecked = "warning: the signature of the release was not checked: ";
    work.ok(&with(&["--keyring", "passwd", "-q"])).says(&format!("{unchecked}the built-in sample has none"));
    work.ok(&with(&["--keyring", "passwd", "--release-dir", "release"]))
        .says(&format!("{unchecked}it comes from a folder"));
    work.ok(&manifests).does_not_say("was not checked");
}

#[test]
fn a_file_that_the_command_line_names_and_that_is_not_there_is_a_wrong_command_line() {
    let work = work::made();
    for arguments in [
        &["approve", "--kubeconfig", "nothing"][..],
        &["approve", "--declared", "nothing"],
        &["certs", "--kubeconfig", "nothing"],
        &["csr", "simulate", "nothing"],
        &["diagnose", "--bundle", "nothing"],
        &["diagnose", "--log", "nothing", "--kubeconfig", "nothing"],
        &["create", "manifests", "--release-dir", "nothing"],
        &["diff", "--against", "nothing"],
        &["etcd", "prove", "nothing", "--identity", "nothing"],
        &["etcd", "status", "--kubeconfig", "nothing"],
        &["gather", "bootstrap", "--bootstrap", "127.0.0.1", "--key", "nothing"],
        &["hosted", "cluster", "status", "guest", "--kubeconfig", "nothing"],
        &["hosted", "nodepool", "list", "--cluster", "guest", "--kubeconfig", "nothing"],
        &["man", "--to", "nothing"],
        &["media", "iso", "--all", "--iso", "nothing"],
        &["media", "show", "nothing"],
        &["release", "bundle", "--verify", "nothing"],
        &["release", "serve", "nothing"],
        &["recover", "certs", "--declared", "nothing"],
        &["recover", "certs", "--kubeconfig", "nothing"],
        &["verify", "--kubeconfig", "nothing"],
        &["wait-for", "bootstrap-complete", "--kubeconfig", "nothing"],
        &["wait-for", "install-complete", "--kubeconfig", "nothing"],
    ] {
        work.refused(2, arguments).says("nothing");
    }
}

#[test]
fn a_kubeconfig_that_is_not_there_is_told_once() {
    let ran = work::empty().refused(2, &["hosted", "cluster", "status", "guest", "--kubeconfig", "nothing"]);
    let ran = ran.says("error[kubeconfig-unusable]");
    assert_eq!(ran.stderr.matches("nothing cannot be used as a kubeconfig").count(), 1, "{}", ran.stderr);
}

#[test]
fn an_install_that_is_named_what_is_not_there_does_not_begin() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let before = Snapshot::of(work.root());
    for command in [&["plan"][..], &["create", "cluster"]] {
        for flag in ["--release-dir", "--pull-secret", "--keyring", "--rendered-dir", "--trust-bundle"] {
            let ran = work.refused(2, &[command, &[flag, "nothing"]].concat());
            ran.says("error[usage]: nothing does not exist");
        }
        let ran = work.refused(2, &[command, &["--skip-check", "nothing"]].concat());
        ran.says("no such check: \"nothing\"").says("release-image");
    }
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn a_file_that_belongs_to_the_folder_and_is_not_there_is_a_wrong_configuration() {
    let work = work::empty();
    for arguments in [
        &["approve"][..],
        &["certs"],
        &["create", "ignition-configs"],
        &["diagnose"],
        &["etcd", "status"],
        &["recover", "certs"],
        &["status"],
        &["verify"],
        &["wait-for", "bootstrap-complete"],
        &["wait-for", "install-complete"],
    ] {
        work.refused(3, arguments);
    }
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.refused(3, &["verify"])
        .says("error[kubeconfig-unusable]: kubeconfig not found: ./auth/kubeconfig\n");
    work.refused(3, &["gather", "bootstrap"])
        .says("error[gather-failed]: no ssh host key is known for bootstrap.ocp4.example.com");
}

#[test]
fn advice_names_the_folder_and_unknown_words_get_some() {
    let work = work::empty();
    let folder = work.root().display().to_string();
    work.refused(3, &["verify", "--dir", &folder])
        .says(&format!("`hardway --dir {folder} create ignition-configs`"));
    work.refused(2, &["explain", "make-pkl"]).says("similar names: make-pki");
    work.refused(2, &["explain", "kubeapiserver"]).says("similar names: kube-apiserver");
    work.refused(2, &["explain", "cucumber"]).says("hardway phase list");
    let help = work.ok(&["--help"]);
    assert!(help.stdout.contains("8  interrupted"), "{}", help.stdout);
}

#[test]
fn who_leaves_out_one_of_two_is_told_of_both() {
    let work = work::empty();
    for (arguments, both) in [
        (&["media", "iso"][..], "<--host <NAME>|--all>"),
        (&["release", "extract", "a.example.com/b:1"], "<--to <DIR>|--file <NAME>|--command <NAME>>"),
        (&["release", "mirror", "--to", "a.example.com/b"], "<PULL_SPEC|--from-dir <DIR>|--from <FILE>...>"),
        (&["release", "mirror", "a.example.com/b:1"], "<--to <REGISTRY/REPO>|--to-dir <DIR>>"),
    ] {
        work.refused(2, arguments).says(both);
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let work = work::empty();
    let page = work.ok(&["man", "approve", "simulate"]).stdout;
    assert!(page.contains(".TH hardway-approve-simulate 1") && page.contains("\\-\\-node"), "{page}");
    assert!(work.ok(&["man"]).stdout.contains(".TH hardway 1"));
    for text in [
        work.ok(&["man", "node", "add"]).stdout.replace("\\-", "-"),
        work.ok(&["node", "add", "--help"]).stdout,
    ] {
        assert!(
            text.contains("hardway node add worker-2 --dir demo") && text.contains("9  waiting for a person"),
            "{text}"
        );
    }
    work.refused(2, &["man", "cucumber"]).says("one of approve, ");
    work.ok(&["man", "--to", "."]);
    let page = work.read("hardway-hosted-workers-add.1");
    assert!(page.contains("EXAMPLES AND EXIT CODES") && !work.exists("hardway-help.1"), "{page}");
    for name in ["hardway.1", "hardway-approve.1", "hardway-gather-bootstrap.1"] {
        assert!(work.exists(name), "{name}");
    }
}
