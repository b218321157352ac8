//! A machine with real iPXE in its network card boots from a folder of ours: QEMU without acceleration, its network in
//! user space, so that nothing leaves this host.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fs_err as fs;
use hardway_assets::example;
use hardway_assets::install_media::{BootFiles, boot_index, boot_script};
use hardway_machines::install_media::{BOOT_HOSTS, BOOT_INDEX, BootAnswer, BootFolder, extract_pxe_files};
use hardway_testing::Running;
use tempfile::TempDir;

use super::fixture::pristine;

/// What stands before everything: a path that nobody guesses.
const PART: &str = "0123456789abcdef0123456789abcdef";
/// Long enough for a machine that is busy with everything else; it takes some seconds.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn a_machine_loads_what_its_script_names_until_it_is_installed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (_dir, folder) = boot_folder(&format!("http://10.0.2.2:{port}"));
    let asked = serve(listener, folder);

    let (index, script) = ("/boot.ipxe", "/ipxe/52-54-00-7e-00-65");
    let machine = boot(port);
    asked.reach(index, false, &[]);
    asked.reach(script, false, &[index]);
    asked.reach("/vmlinuz", false, &[script]);
    // The server takes a host for installed from here on.
    asked.reach("/initrd.img", false, &["/vmlinuz"]);
    drop(machine);

    let _machine = boot(port);
    asked.reach(index, true, &["/initrd.img"]);
    asked.reach(script, true, &[index]);
    // It goes on with its disk, which is empty, and so never asks for a kernel; if it starts over, it begins here.
    if let Ok((path, _)) = asked.0.recv_timeout(Duration::from_secs(3)) {
        assert!([index, script].contains(&path.as_str()), "{path}");
    }
}

/// What the machine asks for, and whether it counted as installed then.
struct Asked(Receiver<(String, bool)>);

impl Asked {
    /// Waits for a path. What was asked for just before may be asked for again: answers can be late.
    fn reach(&self, path: &str, is_installed: bool, again: &[&str]) {
        loop {
            let (found, was_installed) =
                self.0.recv_timeout(PATIENCE).expect("the machine asks for something");
            if (found.as_str(), was_installed) == (path, is_installed) {
                return;
            }
            assert!(again.contains(&found.as_str()), "{found} in place of {path}");
        }
    }
}

fn boot_folder(url: &str) -> (TempDir, BootFolder) {
    let dir = tempfile::tempdir().unwrap();
    extract_pxe_files(pristine(), dir.path()).unwrap();
    let cluster = example::cluster();
    let host = cluster.inventory.hosts.iter().find(|host| host.name == "master-0").unwrap();
    let at = |name: &str| format!("{url}/{name}");
    let files = BootFiles { kernel: at("vmlinuz"), initramfs: at("initrd.img"), rootfs: at("rootfs.img") };
    fs::create_dir(dir.path().join("ipxe")).unwrap();
    fs::write(dir.path().join(BOOT_INDEX), boot_index(url)).unwrap();
    fs::write(dir.path().join(BOOT_HOSTS), r#"{"52:54:00:7e:00:65": "master-0"}"#).unwrap();
    let script = boot_script(&cluster, host, &files, &at("master-0.ign"));
    fs::write(dir.path().join("ipxe/52-54-00-7e-00-65"), script).unwrap();
    let folder = BootFolder::open(dir.path()).unwrap();
    (dir, folder)
}

fn boot(port: u16) -> Running {
    let network = format!("user,id=n,restrict=off,bootfile=http://10.0.2.2:{port}/{PART}/boot.ipxe");
    let mut qemu = Command::new("qemu-system-x86_64");
    qemu.args([
        "-accel", "tcg", "-m", "256", "-display", "none", "-serial", "null", "-monitor", "none", "-boot", "n",
    ]);
    qemu.args(["-netdev", &network, "-device", "virtio-net-pci,netdev=n,mac=52:54:00:7e:00:65"]);
    Running::start(qemu)
}

/// Answers one request at a time, and tells each path behind the part and whether the host counted as installed.
fn serve(listener: TcpListener, folder: BootFolder) -> Asked {
    let (tell, asked) = channel();
    std::thread::spawn(move || {
        let mut is_installed = false;
        for stream in listener.incoming() {
            let Some(path) = stream.ok().and_then(|stream| answer(&stream, &folder, is_installed)) else {
                continue;
            };
            let is_last = path == "/initrd.img";
            if tell.send((path, is_installed)).is_err() {
                return;
            }
            is_installed |= is_last;
        }
    });
    Asked(asked)
}

fn answer(stream: &TcpStream, folder: &BootFolder, is_installed: bool) -> Option<String> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    while lines.next()?.ok().is_some_and(|line| !line.is_empty()) {}
    let asked = first.split(' ').nth(1)?;
    let path = asked.strip_prefix(&format!("/{PART}")).unwrap_or_else(|| panic!("{asked}")).to_owned();
    let (status, body) = match folder.answer(&path, |_| is_installed) {
        BootAnswer::Script(script) => ("200 OK", folder.moved(&script, PART, None).into_bytes()),
        BootAnswer::Install { host, script } => {
            ("200 OK", folder.moved(&script, PART, Some((&host, "part"))).into_bytes())
        }
        BootAnswer::File(path) => ("200 OK", fs::read(path).ok()?),
        BootAnswer::NotFound => ("404 Not Found", Vec::new()),
    };
    let mut stream = stream;
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).ok()?;
    Some(path)
}
