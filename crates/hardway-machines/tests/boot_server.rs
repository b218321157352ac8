//! The boot server, asked by curl as machines would.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use hardway_journal::{Entry, Face, IgnitionRedeemed, InstallBegun, Journal, MediumRead, NodeJoined, read};
use hardway_machines::Trouble;
use hardway_machines::boot_server::{BootServer, Note, installed};
use hardway_machines::install_media::BootFolder;
use hardway_testing::eventually;

const SCRIPT: &str = "ipxe/52-54-00-7e-00-65";

/// A folder as `hardway media pxe` writes it, with a root file system that no buffer holds.
fn folder(path: &Path) -> BootFolder {
    let write = |name: &str, bytes: &[u8]| {
        let file = path.join(name);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, bytes).unwrap();
    };
    write("boot.ipxe", b"#!ipxe\nindex");
    write("hosts.json", br#"{"52-54-00-7e-00-65": "master-0"}"#);
    write(SCRIPT, b"#!ipxe\ninstall");
    write("ignition/master-0.ign", b"{\"pointer\": true}");
    write("ignition/other.ign", b"not a host's");
    let large: Vec<u8> = (0..40_000_000u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    write("rootfs.img", &large);
    BootFolder::open(path).unwrap()
}

/// The host's own address is the first one of this computer.
async fn start(folder: BootFolder, note: Note, trouble: Trouble) -> BootServer {
    let own = Some(BTreeMap::from([("master-0".to_owned(), vec![[127, 0, 0, 1].into()])]));
    BootServer::start(([127, 0, 0, 1], 0).into(), folder, BTreeSet::new(), own, note, trouble).await.unwrap()
}

/// Status and body.
async fn ask(server: &BootServer, path: &str, flags: &[&str]) -> (u16, Vec<u8>) {
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
    let server = start(folder(dir.path()), note, Box::new(|what| panic!("{what}"))).await;
    let text = |(status, body): (u16, Vec<u8>)| (status, String::from_utf8(body).unwrap());

    assert_eq!(text(ask(&server, "boot.ipxe", &[]).await), (200, "#!ipxe\nindex".to_owned()));
    assert_eq!(text(ask(&server, SCRIPT, &[]).await), (200, "#!ipxe\ninstall".to_owned()));
    let head = text(ask(&server, "rootfs.img", &["--head"]).await).1.to_lowercase();
    assert!(head.contains("content-length: 40000000"), "{head}");
    assert_eq!(
        ask(&server, "rootfs.img", &[]).await,
        (200, fs_err::read(dir.path().join("rootfs.img")).unwrap())
    );
    for path in ["hosts.json", "ignition/other.ign", "ignition/..%2fhosts.json", "nothing"] {
        assert_eq!(ask(&server, path, &["--path-as-is"]).await.0, 404, "{path}");
    }
    assert_eq!(ask(&server, "boot.ipxe", &["--request", "POST"]).await.0, 405);

    // A look at the length is no installation.
    ask(&server, "ignition/master-0.ign", &["--head"]).await;
    assert_eq!(noted.lock().unwrap().len(), 0);
    let config = ask(&server, "ignition/master-0.ign", &[]).await;
    assert_eq!(text(config), (200, "{\"pointer\": true}".to_owned()));
    assert_eq!(noted.lock().unwrap()[0].host, "master-0");
    assert!(text(ask(&server, SCRIPT, &[]).await).1.ends_with("master-0 is installed.\nexit\n"));
}

/// A stranger who fetches a host's config does not keep the host from being installed.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_installs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = heard.clone();
    let trouble = Box::new(move |what: &str| told.lock().unwrap().push(what.to_owned()));
    let server = start(folder(dir.path()), Box::new(|begun| panic!("{begun:?}")), trouble).await;
    for number in 2..40 {
        let from = format!("127.0.0.{number}");
        assert_eq!(ask(&server, "ignition/master-0.ign", &["--interface", &from]).await.0, 200);
    }
    assert_eq!(ask(&server, SCRIPT, &[]).await.1, b"#!ipxe\ninstall");
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 8 + 2, "{heard:?}");
    assert_eq!(
        heard[0],
        "127.0.0.2 fetched the config of master-0; it is no address of master-0 in the inventory, so master-0 does not count \
         as installed"
    );
    assert!(
        heard[9].starts_with("127.0.0.33 fetched the config of master-0, as 15 others did before"),
        "{heard:?}"
    );
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
    let server =
        start(folder, Box::new(|_| Err(std::io::Error::other("the disk is full").into())), trouble).await;
    for path in ["ignition/master-0.ign", "ignition/master-0.ign", "rootfs.img"] {
        let (status, body) = ask(&server, path, &[]).await;
        let sentence = b"not now; the operator of this server is told why\n".as_slice();
        assert_eq!((status, body.as_slice()), (503, sentence), "{path}");
    }
    assert_eq!(ask(&server, SCRIPT, &[]).await.1, b"#!ipxe\ninstall");
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].starts_with("master-0 ") && heard[0].ends_with(": the disk is full"), "{heard:?}");
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
    let server = Arc::new(start(folder(dir.path()), note, Box::new(|what| panic!("{what}"))).await);
    let config = |server: Arc<BootServer>| {
        tokio::spawn(async move { ask(&server, "ignition/master-0.ign", &[]).await.0 })
    };
    let (first, second) = (config(server.clone()), config(server.clone()));
    is_entered.recv().await.unwrap();
    assert_eq!(ask(&server, SCRIPT, &["--max-time", "60"]).await.1, b"#!ipxe\ninstall");
    release.send(()).unwrap();
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (200, 200));
    assert!(is_entered.try_recv().is_err(), "written down once");
}

#[test]
fn the_journal_knows_who_is_installed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let now = "2026-11-15T06:00:00Z".parse().unwrap();
    let begun = InstallBegun { host: "master-0".to_owned(), source: [192, 168, 126, 101].into() };
    let redeemed = IgnitionRedeemed {
        host: "master-1".to_owned(),
        generation: "0123456789ab".to_owned(),
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
    let server = start(folder, Box::new(|_| Ok(())), Box::new(|what| panic!("{what}"))).await;
    let address = server.address();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /rootfs.img HTTP/1.1\r\nHost: test\r\n\r\n").await.unwrap();
    let mut received = vec![0; 1_000_000];
    stream.read_exact(&mut received).await.unwrap();

    let ending = tokio::spawn(server.end());
    eventually("nobody new is let in", async || TcpStream::connect(address).await.is_err()).await;
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut received)).await.unwrap().unwrap();
    assert!(received.ends_with(&fs_err::read(dir.path().join("rootfs.img")).unwrap()));
    assert!(ending.await.unwrap(), "it was cut off");
}
