//! The boot server, asked by curl as machines would.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use hardway_assets::ignition::TokenKey;
use hardway_assets::install_media::boot_index;
use hardway_base::Secret;
use hardway_journal::{
    BootstrapComplete, Entry, Face, IgnitionRedeemed, InstallBegun, Journal, MachineRetired, MediumRead,
    NodeJoined, read,
};
use hardway_machines::Trouble;
use hardway_machines::boot_server::{BootServer, Note, installed};
use hardway_machines::install_media::BootFolder;
use hardway_machines::media_paths::MediaPaths;
use hardway_testing::eventually;

const SCRIPT: &str = "ipxe/52-54-00-7e-00-65";
/// Where the scripts say that the folder is.
const URL: &str = "http://boot.example.com:8080";
/// The script of master-0.
const INSTALL: &str = "#!ipxe\nkernel http://boot.example.com:8080/vmlinuz ign=http://boot.example.com:8080/ignition/master-0.ign";

/// A folder as `hardway media pxe` writes it, with a root file system that no buffer holds.
fn folder(path: &Path) -> BootFolder {
    let write = |name: &str, bytes: &[u8]| {
        let file = path.join(name);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, bytes).unwrap();
    };
    write("boot.ipxe", boot_index(URL).as_bytes());
    write("hosts.json", br#"{"52-54-00-7e-00-65": "master-0"}"#);
    write(SCRIPT, INSTALL.as_bytes());
    write("ignition/master-0.ign", b"{\"pointer\": true}");
    write("ignition/other.ign", b"not a host's");
    let large: Vec<u8> = (0..40_000_000u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    write("rootfs.img", &large);
    BootFolder::open(path).unwrap()
}

/// Of the folder; its journal need not be there.
fn paths(path: &Path) -> MediaPaths {
    MediaPaths::new(TokenKey::new(&Secret::new("key")), &path.join("journal.jsonl"))
}

/// The secret part of every path, and that of master-0's config.
fn parts(path: &Path) -> (String, String) {
    let paths = paths(path);
    let config = paths.of("master-0", &path.join("ignition/master-0.ign")).unwrap().unwrap();
    (paths.boot().expose_text().to_owned(), config.expose_text().to_owned())
}

/// Where the config of master-0 is.
fn config_path(path: &Path) -> String {
    format!("{}/master-0.ign", parts(path).1)
}

/// The script of master-0, as it is served.
fn install(path: &Path) -> String {
    let (boot, config) = parts(path);
    let script = INSTALL.replace("/ignition/", &format!("/{boot}/{config}/"));
    script.replace("/vmlinuz", &format!("/{boot}/vmlinuz"))
}

/// The host's own address is the first one of this computer.
async fn start(folder: BootFolder, path: &Path, note: Note, trouble: Trouble) -> BootServer {
    let own = Some(BTreeMap::from([("master-0".to_owned(), vec![[127, 0, 0, 1].into()])]));
    let (address, paths) = (([127, 0, 0, 1], 0).into(), paths(path));
    BootServer::start(address, folder, paths, BTreeSet::new(), own, note, trouble).await.unwrap()
}

/// Status and body of a path below the secret part.
async fn ask(server: &BootServer, path: &str, flags: &[&str]) -> (u16, Vec<u8>) {
    let boot = paths(Path::new("")).boot();
    ask_plainly(server, &format!("{}/{path}", boot.expose_text()), flags).await
}

async fn ask_plainly(server: &BootServer, path: &str, flags: &[&str]) -> (u16, Vec<u8>) {
    let url = format!("http://{}/{path}", server.address());
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--max-time", "120", "--write-out", "%{stderr}%{http_code}", &url]).args(flags);
    let output = tokio::task::spawn_blocking(move || curl.output().unwrap()).await.unwrap();
    (String::from_utf8_lossy(&output.stderr).parse().unwrap(), output.stdout)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_is_installed_once_and_then_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let noted = Arc::new(Mutex::new(Vec::new()));
    let note = noted.clone();
    let note = Box::new(move |begun: &InstallBegun| {
        note.lock().unwrap().push(begun.clone());
        Ok(())
    });
    let server = start(folder(dir.path()), dir.path(), note, Box::new(|what| panic!("{what}"))).await;
    let text = |(status, body): (u16, Vec<u8>)| (status, String::from_utf8(body).unwrap());

    let boot = parts(dir.path()).0;
    assert_eq!(text(ask(&server, "boot.ipxe", &[]).await), (200, boot_index(&format!("{URL}/{boot}"))));
    assert_eq!(text(ask(&server, SCRIPT, &[]).await), (200, install(dir.path())));
    let head = text(ask(&server, "rootfs.img", &["--head"]).await).1.to_lowercase();
    assert!(head.contains("content-length: 40000000"), "{head}");
    assert_eq!(
        ask(&server, "rootfs.img", &[]).await,
        (200, fs_err::read(dir.path().join("rootfs.img")).unwrap())
    );
    let other = format!("{}/other.ign", parts(dir.path()).1);
    for path in ["hosts.json", "ignition/master-0.ign", &other, "ignition/..%2fhosts.json", "nothing", ""] {
        assert_eq!(ask(&server, path, &["--path-as-is"]).await.0, 404, "{path}");
    }
    let guessed = format!("{}/boot.ipxe", "0".repeat(32));
    let config = config_path(dir.path());
    for path in ["boot.ipxe", SCRIPT, "rootfs.img", "ignition/master-0.ign", &config, &guessed, "/boot.ipxe"]
    {
        assert_eq!(ask_plainly(&server, path, &["--path-as-is"]).await.0, 404, "{path}");
    }
    assert_eq!(ask(&server, "boot.ipxe", &["--request", "POST"]).await.0, 405);

    // A look at the length is no installation.
    ask(&server, &config, &["--head"]).await;
    assert_eq!(noted.lock().unwrap().len(), 0);
    assert_eq!(text(ask(&server, &config, &[]).await), (200, "{\"pointer\": true}".to_owned()));
    assert_eq!(noted.lock().unwrap()[0].host, "master-0");
    assert!(text(ask(&server, SCRIPT, &[]).await).1.ends_with("master-0 is installed.\nexit\n"));
}

/// A stranger who knows where a host's config is does not get it, and does not keep the host from being installed.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_installs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = heard.clone();
    let trouble = Box::new(move |what: &str| told.lock().unwrap().push(what.to_owned()));
    let nobody = Box::new(|begun: &InstallBegun| panic!("{begun:?}"));
    let server = start(folder(dir.path()), dir.path(), nobody, trouble).await;
    let config = config_path(dir.path());
    for number in 2..40 {
        let from = format!("127.0.0.{number}");
        let (status, said) = ask(&server, &config, &["--interface", &from]).await;
        let why = format!("{from} is not an address of master-0 in the inventory of this server\n");
        assert_eq!((status, String::from_utf8(said).unwrap()), (403, why));
        assert_eq!(ask(&server, &config, &["--interface", &from, "--head"]).await.0, 403);
    }
    assert_eq!(ask(&server, SCRIPT, &[]).await.1, install(dir.path()).as_bytes());
    let heard = heard.lock().unwrap().clone();
    // Two each: eight, and then at 16, 32 and 64.
    assert_eq!(heard.len(), 8 + 3, "{heard:?}");
    assert_eq!(
        heard[0],
        "refused 127.0.0.2 the config of master-0: the inventory does not list this address for master-0; for hosts behind NAT, use `serve --from-any-address`"
    );
    let folded = "the config of master-0 (and 31 more before)";
    assert!(heard[10].contains(folded), "{heard:?}");
}

/// The inventory gives the host another address while it is served: the old one may be somebody else's now.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_moves_takes_its_config_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let note = Box::new(|_: &InstallBegun| Ok(()));
    let server = start(folder(dir.path()), dir.path(), note, Box::new(|_| {})).await;
    let config = config_path(dir.path());
    server.set_addresses(&BTreeMap::from([("master-0".to_owned(), vec![[127, 0, 0, 9].into()])]));
    assert_eq!(ask(&server, &config, &[]).await.0, 403);
    assert_eq!(ask(&server, &config, &["--interface", "127.0.0.9"]).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_written_down_does_not_happen() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(dir.path());
    let rootfs = dir.path().join("rootfs.img");
    fs_err::remove_file(&rootfs).unwrap();
    fs_err::os::unix::fs::symlink(&rootfs, &rootfs).unwrap();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = heard.clone();
    let trouble = Box::new(move |what: &str| told.lock().unwrap().push(what.to_owned()));
    let full = Box::new(|_: &InstallBegun| Err(std::io::Error::other("the disk is full").into()));
    let server = start(folder, dir.path(), full, trouble).await;
    let config = config_path(dir.path());
    for path in [config.as_str(), &config, "rootfs.img"] {
        let (status, body) = ask(&server, path, &[]).await;
        let sentence = b"temporarily unavailable; see the log of this server\n".as_slice();
        assert_eq!((status, body.as_slice()), (503, sentence), "{path}");
    }
    assert_eq!(ask(&server, SCRIPT, &[]).await.1, install(dir.path()).as_bytes());
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(
        heard[0].starts_with("not serving master-0 ") && heard[0].ends_with(": the disk is full"),
        "{heard:?}"
    );
    assert!(heard[1].starts_with(&format!("{} cannot be read: ", rootfs.display())), "{heard:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_disk_that_takes_its_time_holds_up_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let (entered, mut is_entered) = tokio::sync::mpsc::unbounded_channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let note = Box::new(move |_: &InstallBegun| {
        entered.send(()).unwrap();
        released.lock().unwrap().recv().map_err(|error| std::io::Error::other(error).into())
    });
    let server =
        Arc::new(start(folder(dir.path()), dir.path(), note, Box::new(|what| panic!("{what}"))).await);
    let config = |server: Arc<BootServer>| {
        let path = config_path(dir.path());
        tokio::spawn(async move { ask(&server, &path, &[]).await.0 })
    };
    let (first, second) = (config(server.clone()), config(server.clone()));
    is_entered.recv().await.unwrap();
    assert_eq!(ask(&server, SCRIPT, &["--max-time", "60"]).await.1, install(dir.path()).as_bytes());
    release.send(()).unwrap();
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (200, 200));
    assert!(is_entered.try_recv().is_err(), "written down once");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_a_config_that_its_host_does_not_need_any_more() {
    let host = || "master-0".to_owned();
    #[expect(clippy::disallowed_methods, reason = "files are made by the real clock")]
    let now = || jiff::Timestamp::now();
    let ends = [
        |now| Entry::of(now, &NodeJoined { host: "master-0".to_owned() }),
        |now| Entry::of(now, &MachineRetired { host: "master-0".to_owned() }),
        |now| Entry::of(now, &BootstrapComplete { host: "master-0".to_owned() }),
    ];
    for end in ends {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        let server = start(folder, dir.path(), Box::new(|_| Ok(())), Box::new(|what| panic!("{what}"))).await;
        let config = config_path(dir.path());
        assert_eq!(ask(&server, &config, &[]).await.0, 200);
        let journal = Journal::open(&dir.path().join("journal.jsonl")).unwrap();
        journal.append(&[end(now())]).unwrap();
        assert_eq!(ask(&server, &config, &[]).await.0, 404);
        // Told by the journal, it starts from its disk. Even one that is not told so finds no config by its script.
        server.mark_installed(installed(&read(journal.path()).unwrap()));
        assert!(ask(&server, SCRIPT, &[]).await.1.ends_with(b"master-0 is installed.\nexit\n"));
        assert_eq!(paths(dir.path()).of(&host(), &dir.path().join("ignition/master-0.ign")).unwrap(), None);
    }
}

#[test]
fn the_journal_knows_who_is_installed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let now = "2026-11-15T06:00:00Z".parse().unwrap();
    let begun = InstallBegun { host: "master-0".to_owned(), source: [192, 168, 126, 101].into() };
    let redeemed = IgnitionRedeemed {
        host: "master-1".to_owned(),
        digest: "0123456789ab".to_owned(),
        source: [192, 168, 126, 102].into(),
        face: Face::Host,
    };
    let pool = IgnitionRedeemed { host: "clusters/pool".to_owned(), face: Face::Hosted, ..redeemed.clone() };
    let read_medium = MediumRead { host: "master-2".to_owned(), source: [10, 0, 0, 9].into(), more: 0 };
    let entries = [
        Entry::of(now, &begun),
        Entry::of(now, &redeemed),
        Entry::of(now, &pool),
        Entry::of(now, &read_medium),
        Entry::of(now, &NodeJoined { host: "worker-0".to_owned() }),
    ];
    Journal::open(&path).unwrap().append(&entries).unwrap();
    assert_eq!(
        installed(&read(&path).unwrap()),
        BTreeSet::from(["master-0", "master-1", "worker-0"].map(str::to_owned))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_is_under_way_ends_whole() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(dir.path());
    let server = start(folder, dir.path(), Box::new(|_| Ok(())), Box::new(|what| panic!("{what}"))).await;
    let address = server.address();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("GET /{}/rootfs.img HTTP/1.1\r\nHost: test\r\n\r\n", parts(dir.path()).0);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut received = vec![0; 1_000_000];
    stream.read_exact(&mut received).await.unwrap();

    let ending = tokio::spawn(server.end());
    eventually("nobody new is let in", async || TcpStream::connect(address).await.is_err()).await;
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut received)).await.unwrap().unwrap();
    assert!(received.ends_with(&fs_err::read(dir.path().join("rootfs.img")).unwrap()));
    assert!(ending.await.unwrap(), "it was cut off");
}
