//! Machines that boot from the network, beside the ignition server.

use std::process::Command;

use hardway_journal::{Entry, Journal, NodeJoined};
use hardway_testing::{Ran, Running, free_port};

use super::site::{Folder, Serving};

const MAC: &str = "52-54-00-7e-00-65";

/// The smallest folder that can be served.
fn write_boot_folder(folder: &Folder) {
    let write = |name: &str, text: &str| {
        let path = folder.path(&format!("pxe/{name}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("boot.ipxe", "chain http://boot/ipxe/${netX/mac:hexhyp}");
    write("hosts.json", &format!(r#"{{"{MAC}": "master-0"}}"#));
    write(&format!("ipxe/{MAC}"), "install http://boot/ignition/master-0.ign");
    write("ignition/master-0.ign", "pointer");
}

/// What stands before everything, as a person is told who asks.
fn boot_part(folder: &Folder) -> String {
    let urls: serde_json::Value = folder.ok(&["media", "urls", "--url", "http://boot", "-o", "json"]).json();
    let url = urls["boot"].as_str().unwrap();
    url.strip_prefix("http://boot/").unwrap().strip_suffix("/boot.ipxe").unwrap().to_owned()
}

/// Asks until the server is there: it says so only after the ignition server does.
fn ask(serving: &Serving, port: u16, path: &str) -> String {
    let retry = ["--retry", "60", "--retry-delay", "1", "--retry-connrefused"];
    let url = format!("http://127.0.0.1:{port}/{path}");
    let output = Command::new("curl").args(["--silent", "--fail", &url]).args(retry).output().unwrap();
    assert!(output.status.success(), "{url} of {}: {output:?}", serving.address);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_host_is_installed_once_unless_somebody_wants_it_again() {
    let folder = Folder::made();
    let port = free_port();
    let boot = format!("127.0.0.1:{port}");
    let Ran { code: exit, stderr: said, .. } = folder.cannot_serve(&["--boot", &boot]);
    assert!(exit == Some(2) && said.contains("error[serve-unprepared]"), "{said}");
    assert!(said.contains("hardway media pxe --url"), "{said}");
    write_boot_folder(&folder);
    let Ran { code: exit, stderr: said, .. } =
        folder.cannot_serve(&["--boot", &boot, "--reinstall", "nobody"]);
    assert!(exit == Some(2) && said.contains("has no host of that name"), "{said}");

    let part = boot_part(&folder);
    let script = format!("{part}/ipxe/{MAC}");
    let serving = folder.serve(&["--boot", &boot]);
    let index = ask(&serving, port, &format!("{part}/boot.ipxe"));
    assert_eq!(index, format!("chain http://boot/{part}/ipxe/${{netX/mac:hexhyp}}"));
    let install = ask(&serving, port, &script);
    let config = install.strip_prefix("install http://boot/").unwrap();
    assert!(config.starts_with(&part) && !config.contains("/ignition/"), "{config}");
    assert_eq!(ask(&serving, port, config), "pointer");
    for guessed in ["boot.ipxe", &format!("ipxe/{MAC}"), "ignition/master-0.ign", "vmlinuz"] {
        assert_eq!(status(port, guessed), "404", "{guessed}");
        assert_eq!(status(port, &format!("{}/{guessed}", "0".repeat(32))), "404", "{guessed}");
    }
    assert_eq!(status(port, &format!("{part}/ignition/master-0.ign")), "404");
    assert!(ask(&serving, port, &script).ends_with("exit\n"));
    // The installer may come again, also to a server that was started again; once the node has joined it may not.
    assert_eq!(ask(&serving, port, config), "pointer");
    let Ran { code, stdout, stderr } = serving.end();
    assert_eq!(code, Some(0));
    let journal = folder.read("journal.jsonl");
    for secret in config.split('/').take(2) {
        assert!([&stdout, &stderr, &journal].iter().all(|said| !said.contains(secret)), "{stderr}");
    }
    assert!(
        journal.contains(r#""kind":"install-begun","body":{"host":"master-0","source":"127.0.0.1"}"#),
        "{journal}"
    );

    let serving = folder.serve(&["--boot", &boot]);
    assert!(ask(&serving, port, &script).ends_with("exit\n"), "the journal was not read");
    assert_eq!(serving.end().code, Some(0));
    let serving = folder.serve(&["--boot", &boot, "--reinstall", "master-0"]);
    assert_eq!(ask(&serving, port, &script), install);
    assert_eq!(ask(&serving, port, config), "pointer");
    let journal = Journal::open(&folder.path("journal.jsonl")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "files are made by the real clock")]
    let now = jiff::Timestamp::now();
    journal.append(&[Entry::of(now, &NodeJoined { host: "master-0".to_owned() })]).unwrap();
    assert_eq!(status(port, config), "404");
}

fn status(port: u16, path: &str) -> String {
    let url = format!("http://127.0.0.1:{port}/{path}");
    let words = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", &url];
    String::from_utf8(Command::new("curl").args(words).output().unwrap().stdout).unwrap()
}

/// Whoever asks for its config from elsewhere does not get it, and the host is still to be installed. What a person can allow is written down.
#[test]
fn a_stranger_does_not_keep_a_host_from_being_installed() {
    let folder = Folder::made();
    write_boot_folder(&folder);
    let port = free_port();
    let serving = folder.serving(Running::start(folder.command(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--only-from-own-address",
        "--boot",
        &format!("127.0.0.1:{port}"),
    ])));
    let script = format!("{}/ipxe/{MAC}", boot_part(&folder));
    let install = ask(&serving, port, &script);
    let config = install.strip_prefix("install http://boot/").unwrap();
    assert_eq!(status(port, config), "403");
    assert_eq!(ask(&serving, port, &script), install);
    let journal = folder.read("journal.jsonl");
    assert!(!journal.contains("install-begun") && !journal.contains("any-address-allowed"), "{journal}");
    let said = serving.end().stderr;
    assert!(
        said.contains(
            "refused 127.0.0.1 the config of master-0: the inventory does not list this address for master-0"
        ),
        "{said}"
    );
    let serving = folder.serve(&["--boot", &format!("127.0.0.1:{port}")]);
    assert_eq!(ask(&serving, port, config), "pointer");
    assert!(folder.read("journal.jsonl").contains("any-address-allowed"));
}

#[test]
fn the_operator_is_told_what_keeps_a_machine_waiting() {
    let folder = Folder::made();
    write_boot_folder(&folder);
    let image = folder.path("pxe/rootfs.img");
    std::os::unix::fs::symlink(&image, &image).unwrap();
    let port = free_port();
    let serving = folder.serve(&["--boot", &format!("127.0.0.1:{port}")]);
    let part = boot_part(&folder);
    ask(&serving, port, &format!("{part}/boot.ipxe"));
    let url = format!("http://127.0.0.1:{port}/{part}/rootfs.img");
    let output =
        Command::new("curl").args(["--silent", "--write-out", "%{http_code}", &url]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told, "temporarily unavailable; see the log of this server\n503");
    let said = serving.end().stderr;
    assert!(said.contains("pxe/rootfs.img cannot be read: "), "{said}");
}
