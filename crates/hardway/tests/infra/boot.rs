//! A machine boots from the medium that hardway made, and fetches its config from hardway.

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::Host;
use hardway_journal::Journal;
use hardway_machines::actions::{Action, Executor, Host as ThisHost};
use hardway_machines::providers::Provider as _;
use hardway_machines::providers::libvirt::Libvirt;
use hardway_testing::{Work, inside_with_libvirt, succeed, tools, until};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::site::{host, inventory, on_libvirt, printed};
use crate::page::http::serve_live;
use crate::page::now::{look, machines_boot};
use crate::work::cluster;

pub(crate) const SERIAL: &str = "/var/log/libvirt/qemu/ocp4-master-0-serial.log";

/// The live ISO, with the real Ignition, under this name in the folder.
pub(crate) fn base(folder: &Work, name: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Downloaded beforehand: nothing outside can be reached from the test's own network.
    let kernel = std::env::var("HARDWAY_GUEST_KERNEL")
        .expect("HARDWAY_GUEST_KERNEL is not set: ./test.sh sets it to what tools/guest-kernel.sh prints");
    let ignition = tools(&["ignition"]).join("ignition");
    let iso = folder.path(name).display().to_string();
    succeed(Command::new(here.join("tests/infra/live/build.sh")).args([&iso, &kernel]).arg(ignition));
    iso
}

/// Too large for any medium, so that the host must fetch it.
fn enlarge(folder: &Work) {
    let path = folder.path("ignition/master-0.ign");
    let mut config: Value = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
    let mut noise = vec![0; 300_000];
    let mut seed: u32 = 1;
    noise.iter_mut().for_each(|byte| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (seed >> 24) as u8;
    });
    let source = format!("data:;base64,{}", base64::engine::general_purpose::STANDARD.encode(noise));
    let file = json!({"path": "/etc/noise", "contents": {"source": source}});
    config["storage"]["files"].as_array_mut().unwrap().push(file);
    fs_err::write(&path, config.to_string()).unwrap();
}

fn carry_out(folder: &Work, actions: &[Action]) {
    let journal = Journal::open(&folder.path(hardway_journal::FILE_NAME)).unwrap();
    let now = || Timestamp::UNIX_EPOCH;
    Executor::new(&folder.path(""), &journal, &now).up(actions, &mut ()).unwrap_or_else(|error| {
        panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string))
    });
}

/// The end of that very console is on its host's card.
fn shown_on_the_page(folder: &Work) {
    machines_boot(folder);
    let mut served = serve_live(folder);
    let console = |seen: &Value| {
        let consoles = seen["consoles"].as_array().cloned().unwrap_or_default();
        consoles.into_iter().find(|console| console["host"] == "master-0")
    };
    let seen = look(&served, |seen| console(seen).is_some());
    let shown = console(&seen).unwrap();
    let lines: Vec<&str> = shown["lines"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(lines.iter().any(|line| line.contains("installed: end")), "{lines:#?}");
    assert!(shown["command"].as_str().unwrap().contains(SERIAL), "{shown:#}");
    served.running.signal("TERM");
    assert_eq!(served.running.exit(), Some(0));
}

#[test]
fn a_machine_boots_from_its_medium_and_fetches_its_config() {
    if !inside_with_libvirt() {
        return;
    }
    let (folder, before) = (on_libvirt(&inventory()), host());
    folder.ok(&["create", "ignition-configs"]);
    enlarge(&folder);
    folder.ok(&["create", "ignition-configs"]);
    let iso = base(&folder, "live.iso");
    let medium = ["media", "iso", "--host", "master-0", "--iso", &iso, "--live-karg-append", "console=ttyS0"];
    folder.ok(&medium);
    folder.ok(&["infra", "up"]);
    let serving = folder.start(&["serve", "--listen", "192.168.126.1:22624", "-o", "json"]);
    until("hardway serves", || printed("ss -Hltn").contains("192.168.126.1:22624"));

    let cluster = cluster(&folder);
    let provider = Libvirt::new(&cluster, &folder.path(""), InstallStage::Bootstrapping)
        .map_err(|wrong| format!("{wrong:?}"))
        .unwrap();
    let master = cluster.inventory.hosts.iter().find(|host| host.name == "master-0").unwrap();
    carry_out(&folder, &provider.first_boot(master));
    let console =
        || fs_err::read(SERIAL).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    until("the installed system is at its end", || console().contains("installed: end"));
    let console = console();
    assert!(console.contains("installed: address 192.168.126.101/24 name master-0"), "{console}");
    assert!(console.contains("live: config of the live system applied"), "{console}");
    let fetched = console.split("config of the host fetched: ").nth(1).unwrap_or_else(|| panic!("{console}"));
    let bytes: u64 = fetched.split(' ').next().unwrap().parse().unwrap();
    assert!(bytes > 400_000, "{bytes}");
    let leases = printed("virsh -c qemu:///system net-dhcp-leases ocp4");
    let lease =
        leases.lines().find(|line| line.contains("52:54:00:7e:00:65")).unwrap_or_else(|| panic!("{leases}"));
    assert!(lease.contains("192.168.126.101/24") && lease.contains("master-0"), "{lease}");
    shown_on_the_page(&folder);
    let events = serving.printed();
    assert!(events.contains("master-0"), "{events}");

    // Once on, always been on; and it stays plugged in when somebody restarts the network.
    let journal = fs_err::read(folder.path(hardway_journal::FILE_NAME)).unwrap();
    carry_out(&folder, &provider.first_boot(master));
    assert_eq!(fs_err::read(folder.path(hardway_journal::FILE_NAME)).unwrap(), journal);
    folder.remove("media/master-0.iso");
    carry_out(&folder, &provider.first_boot(master));
    let plugged = || printed("ip -o link show master virbr-ocp4").contains("vnet");
    assert!(plugged());
    printed("virsh -c qemu:///system net-destroy ocp4");
    folder.ok(&["infra", "up"]);
    assert!(plugged(), "the machine lost its network");
    // A machine that is defined anew has been on all the same.
    let inventory = inventory().replace("memoryGiB: 1, diskGiB: 2}\n", "memoryGiB: 2, diskGiB: 2}\n");
    folder.write("inventory.yaml", &inventory);
    folder.ok(&["infra", "up"]);
    assert!(printed("virsh -c qemu:///system dominfo ocp4-master-0").contains("running"));
    carry_out(&folder, &provider.first_boot(master));

    // Once it has joined: the drive is empty, the volume gone, and the machine starts again from its disk all the same.
    let virsh = |words: &str| printed(&format!("virsh -c qemu:///system {words}"));
    assert!(virsh("vol-list ocp4").contains("ocp4-master-0.iso"));
    carry_out(&folder, &provider.after_join(master));
    let is_empty = |which: &str| {
        let drives = virsh(&format!("domblklist ocp4-master-0 {which}"));
        drives.lines().any(|line| line.split_whitespace().eq(["sda", "-"]))
    };
    assert!(is_empty("") && is_empty("--inactive"), "{}", virsh("domblklist ocp4-master-0"));
    assert!(!virsh("vol-list ocp4").contains("ocp4-master-0.iso"));
    let journal = fs_err::read(folder.path(hardway_journal::FILE_NAME)).unwrap();
    carry_out(&folder, &provider.after_join(master));
    assert_eq!(
        fs_err::read(folder.path(hardway_journal::FILE_NAME)).unwrap(),
        journal,
        "nothing is done twice"
    );
    folder.write(
        "inventory.yaml",
        inventory.replace("memoryGiB: 2, diskGiB: 2}\n", "memoryGiB: 3, diskGiB: 2}\n"),
    );
    folder.ok(&["infra", "up"]);
    assert!(is_empty("--inactive"), "a definition made anew named the medium that is gone");
    dies(&folder, &provider, master);
    assert!(virsh("start ocp4-master-0").contains("started"));

    folder.ok(&["infra", "down", "--yes"]);
    let exists = provider.exists(master).unwrap().ask(&ThisHost::default()).unwrap();
    assert_eq!(exists, Some(false));
    assert_eq!(host(), before);
    assert!(!Path::new(SERIAL).exists());
}

/// What libvirt knows of a machine that stands still, and of one that was killed, is what `diagnose` goes by.
fn dies(folder: &Work, provider: &Libvirt, host: &Host) {
    let virsh = |words: &str| printed(&format!("virsh -c qemu:///system {words}"));
    let diagnosed = || folder.run(&["diagnose"]).expect(1).stdout;
    virsh("suspend ocp4-master-0");
    let told = diagnosed();
    assert!(!told.contains("E-H19"), "it is not off: {told}");
    virsh("destroy ocp4-master-0");
    let told = diagnosed();
    assert!(told.starts_with("E-H19 (host) A node is NotReady or never registered"), "{told}");
    assert!(told.contains("the machine of master-0 is off (virsh: shut off (destroyed))"), "{told}");
    assert!(told.contains("disk of master-0: "), "{told}");
    assert!(told.contains("console of master-0: ") && told.contains("installed: end"), "{told}");
    assert_eq!(provider.exists(host).unwrap().ask(&ThisHost::default()).unwrap(), Some(true));
}
