//! Names and addresses: hardway's own dnsmasq as real clients ask it, and the files for servers of others as those read them.

use std::path::Path;
use std::process::Command;

use hardway_assets::host_services::{BootOptions, InstallStage, Names};
use hardway_machines::actions::{Action, Step};
use hardway_machines::providers::Provider as _;
use hardway_testing::{inside_with_units, succeed, until};
use serde_json::json;

use super::site::{cluster, down, provider, up};

fn bash(line: &str) -> String {
    succeed(Command::new("bash").args(["-ec", line]))
}

fn content<'a>(actions: &'a [Action], id: &str) -> &'a str {
    let action = actions.iter().find(|action| action.id == id).unwrap_or_else(|| panic!("{id}"));
    match &action.does[0] {
        Step::WriteFile { content, .. } => content,
        other => panic!("{other}"),
    }
}

/// This host's card, and a machine on the same wire with the MAC address of master-0.
const WIRE: &str = "
mkdir -p /run/netns
ip netns add machine
ip link add eno1 type veth peer name eth0 netns machine
ip address add 192.168.126.1/24 dev eno1
ip link set eno1 up
ip -n machine link set eth0 address 52:54:00:7e:00:65
ip -n machine link set lo up
ip -n machine link set eth0 up
";

#[test]
fn real_dnsmasq_of_our_own_answers_after_a_reboot_too() {
    if !inside_with_units() {
        return;
    }
    bash(WIRE);
    let folder = tempfile::tempdir().unwrap();
    let cluster = cluster(json!({
        "interface": "eno1", "names": "unit", "dhcp": "unit",
        "boot": "pxe", "mediaUrl": "http://192.168.126.2:8080", "ipxe": "/run/ipxe",
    }));
    let planned = provider(&cluster, folder.path(), InstallStage::Bootstrapping).infrastructure();
    let ids: Vec<&str> =
        planned.iter().map(|action| action.id.as_str()).filter(|id| id.starts_with("dns/")).collect();
    assert_eq!(ids, ["dns/ipxe", "dns/boot", "dns/dnsmasq"]);
    // What `hardway media dhcp` writes; the program is not here.
    let boot = format!("/etc/hardway/{}/dnsmasq-boot.conf", cluster.identity.infra_id);
    let options = BootOptions {
        script: "http://192.168.126.2:8080/secret/boot.ipxe".to_owned(),
        efi: Some("http://192.168.126.2:8080/secret/ipxe.efi".to_owned()),
        tftp_root: Some("/run/ipxe".to_owned()),
    };
    fs_err::create_dir_all("/run/ipxe").unwrap();
    fs_err::create_dir_all(Path::new(&boot).parent().unwrap()).unwrap();
    fs_err::write(&boot, options.dnsmasq()).unwrap();
    let actions: Vec<Action> = planned.into_iter().filter(|action| action.id == "dns/dnsmasq").collect();
    assert_eq!(up(folder.path(), &actions), ["dns/dnsmasq"]);
    assert_eq!(up(folder.path(), &actions), [""; 0]);
    let names = Names::of(&cluster);
    let ask = |question: &str| {
        bash(&format!("ip netns exec machine dig @192.168.126.1 +short +tries=2 +timeout=5 {question} || :"))
    };
    // busybox prints what it got through the script that it calls.
    let script = folder.path().join("lease.sh");
    fs_err::write(
        &script,
        "#!/bin/sh\n[ \"$1\" != bound ] || echo \"got $ip $router $dns $hostname $boot_file.\"\n",
    )
    .unwrap();
    bash(&format!("chmod +x {}", script.display()));
    let lease = |options: &str| {
        bash(&format!(
            "ip netns exec machine busybox udhcpc -i eth0 -n -q -f -t 5 -T 2 {options} -s {} 2>/dev/null || :",
            script.display()
        ))
    };
    let works = || {
        until("a lease is given", || {
            let got = "got 192.168.126.101 192.168.126.1 192.168.126.1 master-0";
            lease("").contains(&format!("{got} undionly.kpxe."))
                && lease("-x 0x5d:0007").contains(&format!("{got} ipxe.efi."))
                && lease("-x 0x5d:0010").contains(&format!("{got} {}.", options.efi.as_deref().unwrap()))
                && lease("-x 0xaf:01").contains(&format!("{got} {}.", options.script))
        });
        bash("ip -n machine address replace 192.168.126.101/24 dev eth0");
        until("names are answered", || ask("api.ocp4.example.com").trim() == "192.168.126.10");
        for name in &names.names {
            assert_eq!(ask(&name.name).trim(), name.addresses[0].to_string());
        }
        assert_eq!(ask("-x 192.168.126.101").trim(), "master-0.ocp4.example.com.");
        bash("ip -n machine address flush dev eth0");
    };
    works();
    bash(
        "ip -n machine link set eth0 down; ip -n machine link set eth0 address 52:54:00:00:00:99; ip -n machine link set eth0 up",
    );
    assert!(!lease("").contains("got "), "a stranger gets no address");
    bash(
        "ip -n machine link set eth0 down; ip -n machine link set eth0 address 52:54:00:7e:00:65; ip -n machine link set eth0 up",
    );

    bash("pkill -9 -x dnsmasq; rm -rf /run/hardway /run/systemctl; systemctl boot");
    works();
    assert_eq!(up(folder.path(), &actions), [""; 0], "all of it holds, with nothing done by hardway");
    fs_err::remove_file(&boot).unwrap();
    down(folder.path());
    until("nothing is left", || {
        bash("pgrep -x dnsmasq || :; find /etc/hardway /run/hardway /etc/systemd/system -name '*hardway*' 2>/dev/null || :").trim().is_empty()
    });
}

#[test]
fn real_bind_and_kea_take_their_files() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("inventory.yaml"), "").unwrap();
    let planned =
        |settings| provider(&cluster(settings), folder.path(), InstallStage::Bootstrapping).infrastructure();
    let actions = planned(json!({"names": "bind", "dhcp": "kea"}));
    let write = |id: &str, name: &str| {
        let path = folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, content(&actions, id)).unwrap();
        path
    };
    let domain = "ocp4.example.com";
    for zone in [domain, "126.168.192.in-addr.arpa"] {
        write(&format!("dns/zone/{zone}"), &format!("hardway/{zone}.zone"));
    }
    let conf = write("dns/named", "named.conf");
    let text = format!("options {{ directory \"{}\"; }};\n", folder.path().display());
    fs_err::write(&conf, text + content(&actions, "dns/named")).unwrap();
    let said = succeed(Command::new("named-checkconf").arg("-z").arg(&conf));
    assert!(said.contains("zone ocp4.example.com/IN: loaded serial"), "{said}");
    assert!(said.contains("zone 126.168.192.in-addr.arpa/IN: loaded serial"), "{said}");
    assert!(
        content(&actions, "dns/zone/126.168.192.in-addr.arpa")
            .contains("101 IN PTR master-0.ocp4.example.com.")
    );
    let conf = write("dns/dhcp4", "kea-dhcp4.conf");
    succeed(Command::new("kea-dhcp4").arg("-t").arg(&conf));
    assert!(content(&actions, "dns/dhcp4").contains("\"hw-address\": \"52:54:00:7e:00:65\""));
}

#[test]
fn a_zones_serial_grows_with_every_change_and_only_then() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("inventory.yaml"), "").unwrap();
    let mut cluster = cluster(json!({"names": "bind"}));
    cluster.inventory.network.load_balancer = hardway_assets::inventory::Balancer::External;
    let serial = |actions: &[Action]| -> u32 {
        let text = content(actions, "dns/zone/ocp4.example.com");
        text.split("( ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let plan =
        |cluster: &_, folder: &Path| provider(cluster, folder, InstallStage::Bootstrapping).infrastructure();
    let first = plan(&cluster, folder.path());
    up(folder.path(), &first);
    let again = plan(&cluster, folder.path());
    assert_eq!((serial(&again), up(folder.path(), &again)), (serial(&first), Vec::new()));
    cluster.inventory.network.api_vip = vec![[192, 168, 126, 12].into()];
    let changed = plan(&cluster, folder.path());
    assert!(serial(&changed) > serial(&first));
    assert!(!up(folder.path(), &changed).is_empty());
    down(folder.path());
    let anew = plan(&cluster, folder.path());
    assert!(serial(&anew) >= serial(&first), "secondaries that have the old one fetch it");
}
