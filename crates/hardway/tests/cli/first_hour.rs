//! What somebody meets who has just begun: folders with spaces, nothing made yet, something broken.

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran, with_hardware};

use crate::work;

#[test]
fn a_folder_with_spaces_is_quoted_in_advice() {
    let work = work::empty();
    work.ok(&["init", "--dir", "my cluster", "--provider", "bare-metal"])
        .says("hardway create cluster --dir 'my cluster'");
    work.refused(2, &["status", "--dir", "no such"])
        .says("mkdir -p 'no such' && hardway init --dir 'no such'");
}

#[test]
fn a_folder_that_begins_with_a_hyphen_can_be_typed_as_advised() {
    let work = work::empty();
    work.ok(&["init", "--dir=-mine", "--provider", "bare-metal"])
        .says("hardway create cluster --dir ./-mine");
    work.ok(&["validate", "--dir", "./-mine"]);
    work.refused(2, &["status", "--dir=-other"]).says("mkdir -p ./-other && hardway init --dir ./-other");
}

#[test]
fn a_file_where_a_folder_should_be_is_not_made_a_folder() {
    let work = work::empty();
    work.write("file", "");
    for dir in ["file", "file/below"] {
        work.refused(2, &["status", "--dir", dir])
            .says("name a folder with --dir: file is a file")
            .does_not_say("mkdir");
    }
}

#[test]
fn which_of_the_two_files_is_missing_decides_what_to_do() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.remove("inventory.yaml");
    work.refused(3, &["status"]).says("to write a sample; install-config.yaml").does_not_say("openshift");
    work.remove("install-config.yaml");
    work.refused(3, &["status"]).says("samples of both files").does_not_say("openshift");
    work.write("inventory.yaml", INVENTORY);
    work.refused(3, &["status"]).says("openshift-install deletes the file");
}

#[test]
fn a_fresh_lab_begins_with_create_cluster() {
    let work = work::empty();
    work.ok(&["init", "--provider", "lab"]);
    work.ok(&["status"]).says("hardway create cluster` builds").does_not_say("create manifests");
}

/// Words that people typed are said as they typed them.
#[test]
fn only_advice_gets_the_folder() {
    let work = work::made();
    let root = work.root().to_str().unwrap().to_owned();
    let ran = work.refused(2, &["explain", "--dir", &root, "hardway status of mine"]);
    ran.says("no explanation for \"hardway status of mine\"");
    work.edit(
        "install-config.yaml",
        "networkType: OVNKubernetes",
        "networkType: OVNKubernets # hardway status",
    );
    let ran = work.refused(3, &["validate", "--dir", &root]);
    assert!(!ran.stderr.contains("--dir"), "{}", ran.stderr);
}

#[test]
fn an_empty_variable_is_not_blamed_on_a_flag() {
    let work = work::made();
    let run = |args: &[&str]| {
        let mut command = work.command(args);
        command.env("HARDWAY_DIR", "");
        Ran::of(command)
    };
    run(&["status"]).expect(2).says("HARDWAY_DIR is empty").does_not_say("--dir <DIR>");
    run(&["status", "--dir", "."]).expect(0);
    run(&["status", "--dir="]).expect(2).says("--dir is empty");
}

#[test]
fn phases_can_be_named_by_their_numbers() {
    let work = work::with_inputs(INSTALL_CONFIG, &with_hardware(INVENTORY, ""));
    for number in ["4", "04"] {
        work.run(&["phase", "run", number]).expect(0).says("make-pki: ");
    }
    work.refused(2, &["phase", "run", "00"]).says("no such phase: \"00\"");
    work.refused(2, &["phase", "run", "99"]).says("no such phase: \"99\"");
}

#[test]
fn verbs_without_a_flag_do_not_advise_it() {
    let work = work::made();
    work.remove("auth/kubeconfig");
    for verb in [&["node", "add", "worker-0"][..], &["node", "remove", "worker-0", "--yes"]] {
        work.run(verb).expect(3).says("kubeconfig not found").does_not_say("--kubeconfig");
    }
    work.run(&["verify"]).expect(3).says("--kubeconfig");
}

#[test]
fn a_warning_is_given_once() {
    let work = work::made();
    for dry in [&["recover", "certs"][..], &["recover", "certs", "--dry-run"]] {
        let said = work.run(dry).stderr;
        assert_eq!(said.matches("built-in sample release").count(), 1, "{said}");
    }
}

#[test]
fn a_flag_that_changes_nothing_is_warned_about() {
    let work = work::made();
    work.remove("pki/machine-config-server.crt");
    let pool = ["serve", "--face", "pool", "--from-any-address"];
    work.run(&pool).expect(2).says("--from-any-address has no effect here");
    work.run(&pool[..3]).expect(2).does_not_say("--from-any-address");
}

/// Nothing sees the bootstrap host where it fetches nothing: it is not waited for in vain.
#[test]
fn by_hand_the_bootstrap_host_is_not_said_to_ask_for_a_certificate() {
    let work = work::empty();
    work.ok(&["init", "--provider", "bare-metal"]);
    let ran = work.run(&["bmc", "by-hand", "--host", "bootstrap"]).expect(9);
    ran.says("hardway cannot see bootstrap")
        .says("wait-for bootstrap-complete")
        .does_not_say("its kubelet requests");
    work.run(&["bmc", "by-hand", "--host", "worker-0"]).expect(9).says("its kubelet requests");
}

/// Columns stand below each other, and reasons fit a line.
#[test]
fn status_is_a_table() {
    let work = work::made();
    work.edit("install-config.yaml", "hostPrefix: 23", "hostPrefix: 24");
    let table = |args: &[&str]| -> Vec<String> {
        let told = work.ok(args).stdout;
        told.lines().filter(|line| line.starts_with("stale ")).map(str::to_owned).collect()
    };
    let rows = table(&["status"]);
    let place = rows[0].find("install-config changed").unwrap();
    for row in &rows {
        assert!(row.is_char_boundary(place) && &row[place - 1..place] == " ", "{row}");
        assert!(&row[place..=place] != " " && row.chars().count() <= 130, "{row}");
    }
    let bootstrap =
        |rows: &[String]| rows.iter().find(|row| row.contains("bootstrap-ignition")).unwrap().clone();
    assert!(bootstrap(&rows).contains("; and "), "{rows:#?}");
    let all = bootstrap(&table(&["status", "--all"]));
    assert!(!all.contains("; and ") && all.matches("; ").count() > 1, "{all}");
}

#[test]
fn editors_find_the_schemas_of_both_files() {
    let work = work::empty();
    work.ok(&["init"]);
    for file in ["install-config", "inventory"] {
        let first = work.read(&format!("{file}.yaml")).lines().next().unwrap().to_owned();
        assert_eq!(first, format!("# yaml-language-server: $schema=.schema/{file}.json"));
        let schema: serde_json::Value =
            serde_json::from_str(&work.read(&format!(".schema/{file}.json"))).unwrap();
        assert_eq!(schema, work.ok(&["schema", file]).json());
    }
    work.ok(&["explain", ".schema/inventory.json"]);
}

/// What a person looks for first is red, yellow or green; data for programs never is.
#[test]
fn words_that_matter_have_colours() {
    let work = work::made();
    let paint = |args: &[&str]| work.run(&[args, &["--color", "always"]].concat());
    let ran = paint(&["status", "--dir", "nowhere"]);
    assert!(ran.stderr.contains("\u{1b}[1m\u{1b}[31merror[usage]:\u{1b}[0m"), "{:?}", ran.stderr);
    assert!(ran.stderr.contains("\u{1b}[36mfix:\u{1b}[0m"), "{:?}", ran.stderr);
    assert!(paint(&["status"]).stderr.contains("\u{1b}[1m\u{1b}[33mwarning:\u{1b}[0m"));
    let only = ["check", "--only", "inventory-complete", "--only", "certificates"];
    assert!(paint(&only).stdout.contains("\u{1b}[32mpassed"), "{}", paint(&only).stdout);
    let plain = paint(&[&only[..], &["-o", "json"]].concat());
    assert!(!plain.stdout.contains('\u{1b}') && plain.json().is_object());
    // Nor has the error in it.
    work.write("install-config.yaml", "fips: 7\n");
    let said = paint(&["status", "-o", "json"]).stderr;
    let error: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert!(!error.to_string().contains("u001b"), "{error:#}");
}

/// How far keys are is shown at a terminal, and nowhere else.
#[test]
fn keys_are_counted_at_a_terminal() {
    let inventory = INVENTORY.replace("ECDSA-P256", "RSA-2048");
    let work = work::with_inputs(INSTALL_CONFIG, &inventory);
    let mut command = std::process::Command::new("script");
    let line = format!("{} create manifests", work::PROGRAM);
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(work.root());
    let shown = Ran::of(command).expect(0).stdout;
    assert!(shown.contains("generating keys "), "{shown}");
    // How long it takes is known once something is done.
    let mut first = shown.split('\r').filter(|line| line.contains("generating keys 0 of "));
    assert!(first.all(|line| !line.contains(" left")), "{shown}");
    let work = work::with_inputs(INSTALL_CONFIG, &inventory);
    work.ok(&["create", "manifests"]).does_not_say("generating keys");
}

#[test]
fn help_without_colours_has_none() {
    let work = work::empty();
    for arguments in [&["--color", "never", "--help"][..], &["status", "--color=never", "--help"]] {
        assert!(!work.ok(arguments).stdout.contains('\u{1b}'), "{arguments:?}");
    }
    assert!(work.ok(&["--color", "always", "--help"]).stdout.contains('\u{1b}'));
}

/// A look draws no keys: that is for whoever writes them down. Forty RSA keys take more than five seconds of a processor, all the rest one.
#[test]
fn whoever_only_looks_draws_no_keys() {
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("ECDSA-P256", "RSA-2048"));
    for (verb, code) in [
        (&["status"][..], 0),
        (&["media", "limits"], 0),
        (&["create", "ignition-configs", "--dry-run"], 0),
        (&["media", "iso", "--all", "--iso", "nothing"], 2),
    ] {
        let mut timed = std::process::Command::new("bash");
        timed.args(["-c", "TIMEFORMAT='user %U'; time \"$@\"", "bash", work::PROGRAM]).args(verb);
        let ran = Ran::of({
            timed.current_dir(work.root());
            timed
        })
        .expect(code);
        let user = ran.stderr.lines().find_map(|line| line.strip_prefix("user ")).unwrap();
        assert!(user.parse::<f64>().unwrap() < 3.0, "{verb:?} took {user} s of a processor");
        assert!(!work.exists("secrets"), "{verb:?}");
    }
}

#[test]
fn a_plan_begins_names_with_the_same_id_at_every_look_and_says_so() {
    let work = work::empty();
    work.ok(&["init", "--provider", "gce"]);
    let plan = |verb: &[&str]| work.run(verb).says("names begin with ocp4-later here").stdout;
    for verb in [&["infra", "plan"][..], &["plan", "--all"]] {
        let first = plan(verb);
        assert!(first.contains("ocp4-later"), "{first}");
        assert_eq!(first, plan(verb), "{verb:?}");
    }
}

#[test]
fn a_broken_file_or_key_is_named_and_everything_else_is_told() {
    let work = work::made();
    work.write("secrets/etcd-signer.key", "no key\n");
    let ran = work.refused(1, &["status"]);
    assert!(ran.stdout.contains("broken "), "{}", ran.stdout);
    assert!(ran.stdout.contains("assets are fresh"), "{}", ran.stdout);
    let ran = work.run(&["status", "-o", "json"]).expect(1);
    let value = ran.json();
    assert!(value["broken"][0]["error"].as_str().unwrap().contains("etcd-signer"), "{value:#}");
    assert!(value["assets"].as_array().unwrap().len() > 20, "{value:#}");
}

#[test]
fn watching_where_nobody_works_says_so() {
    work::with_inputs(INSTALL_CONFIG, INVENTORY)
        .ok(&["status", "--watch"])
        .says("no install was started from this folder yet: start it with `hardway create cluster`");
}

#[test]
fn advice_fits_what_was_typed() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.write("file", "");
    work.refused(2, &["diff", "--against", "file"]).says("file is not a folder").does_not_say("mkdir");
    let gce = work::empty();
    gce.ok(&["init", "--provider", "gce"]);
    let inventory = gce.read("inventory.yaml");
    assert!(inventory.contains("dns: [169.254.169.254]"), "the platform's own resolver: {inventory}");
    let plan = gce.ok(&["plan"]).stdout;
    assert!(
        plan.contains("the built-in sample release") && !plan.contains("sample from its registry"),
        "{plan}"
    );
    work::empty().refused(3, &["release", "media"]).says("no inventory.yaml to take the release from");
}

#[test]
fn names_that_are_printed_are_explained() {
    let work = work::made();
    for (what, told) in [
        (&["infrastructure"][..], "infrastructure (asset)"),
        (&["node-worker-0"], "node-worker-0 (asset)"),
        (&[".hardway.lock"], "locks while it changes"),
        (&["exit", "code", "3"], "inventory-invalid"),
        (&["T1"], "etcd prefix"),
        (&["pivot"], "guide"),
        (&["operator-seeds"], "operator-seeds/ (folder)"),
        (&["journal"], "journal.jsonl (file)"),
        (&["--skip-check"], "hardway check"),
        (&["--dir"], "Folder of the cluster"),
        (&["--kubeconfig"], "hardway --kubeconfig (flag of hardway)"),
        (&["-q"], "the same as --log-level warn"),
        (&["HARDWAY_DIR"], "HARDWAY_DIR (environment variable)"),
        (&["$NO_PROXY"], "proxy for registries"),
        (&["requester"], "requester (rule for certificate requests)"),
        (&["hardway", "create", "cluster"], "hardway create cluster (command)"),
        (&["worker-0"], "A worker of the inventory"),
    ] {
        let ran = work.ok(&[&["explain"], what].concat());
        assert!(ran.stdout.contains(told), "{what:?}: {}", ran.stdout);
    }
    for word in ["journal", "machine", "seed", "bootstrap", "certificate"] {
        let told = work.ok(&["explain", word]).stdout;
        assert!(!told.contains("| ") && !told.contains("<!--"), "{told}");
    }
    let whole = work.path("manifests/cluster-dns-02-config.yml");
    work.ok(&["explain", whole.to_str().unwrap()]);
}
