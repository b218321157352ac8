use hardway_assets::example;
use hardway_assets::inventory::Balancer;
use serde_json::{Value, json};

use super::*;
use crate::actions::{ActionCheck, Step};
use crate::redfish::{Login, Trust};

fn cluster(settings: Value) -> Cluster {
    let mut cluster = example::cluster();
    cluster.inventory.machines.settings = settings;
    cluster.inventory.network.load_balancer = Balancer::External;
    cluster
}

fn provider(cluster: &Cluster) -> BareMetal {
    BareMetal {
        cluster: cluster.clone(),
        settings: BareMetalSettings::read(cluster).unwrap(),
        program: PathBuf::from("hardway"),
        folder: PathBuf::from("/c"),
        stage: InstallStage::Bootstrapping,
        facts: HostFacts { inventory_written: 1000, ..HostFacts::default() },
    }
}

fn with_controller(more: &Value) -> Value {
    let mut bmc = json!({"address": "redfish+https://10.0.0.5/redfish/v1/Systems/1", "user": "admin", "passwordFile": "secrets/bmc-master-0"});
    bmc.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"mediaUrl": "http://192.168.126.2:8080/", "hosts": {"master-0": {"bmc": bmc}}})
}

fn lines(actions: &[Action]) -> Vec<String> {
    actions.iter().flat_map(|action| action.does.iter().map(Step::to_string)).collect()
}

#[test]
fn a_machine_with_a_controller_is_booted_from_here() {
    let cluster = cluster(with_controller(&json!({})));
    let provider = provider(&cluster);
    let host = &cluster.inventory.hosts[1];
    assert!(provider.by_hand(host).is_empty());
    let bmc = |verb: &str| format!("hardway --dir /c bmc {verb} --host master-0");
    let first_boot = provider.first_boot(host);
    let mut wanted = vec!["hardway --dir /c media iso --host master-0 --pointer".to_owned()];
    wanted.extend(["power-off", "insert", "boot-once-cd", "power-on"].map(bmc));
    let done = lines(&first_boot);
    assert!(done[0].contains("hardway --dir /c release media --format iso"), "{}", done[0]);
    assert_eq!(done[1..6], wanted);
    assert!(done[6].ends_with("/c/bare-metal/first-boot/master-0"), "{}", done[6]);
    assert!(first_boot[1].why.contains("all data on /dev/vda is lost"), "{}", first_boot[1].why);
    let undo: Vec<String> = first_boot[1].undo.iter().map(Step::to_string).collect();
    assert_eq!(undo, [bmc("power-off"), bmc("eject")]);
    assert_eq!(lines(&provider.after_join(host)), [bmc("eject")]);
    assert_eq!(lines(&[provider.infrastructure().pop().unwrap()]), [bmc("status")]);
    let power = provider.power(host);
    assert_eq!(*power.program(), provider.bmc("status", host));
    assert_eq!(power.read("model: x\npower: on\n"), Some(Power::On));
    assert_eq!(power.read("model: x\npower: off\n"), Some(Power::Off));
    assert_eq!(power.read("power: unknown\n"), Some(Power::Unknown));
}

#[test]
fn over_the_network_nothing_is_inserted() {
    let mut settings = with_controller(&json!({}));
    settings["boot"] = "pxe".into();
    let cluster = cluster(settings);
    let provider = provider(&cluster);
    let host = &cluster.inventory.hosts[1];
    let done = lines(&provider.first_boot(host));
    assert_eq!(done[0], "hardway --dir /c media pxe --url http://192.168.126.2:8080");
    assert!(
        done[2].contains("boot-once-pxe") && !done.iter().any(|line| line.contains("insert")),
        "{done:?}"
    );
    assert!(provider.after_join(host).is_empty());
    let by_hand = provider.by_hand(&cluster.inventory.hosts[2]);
    assert!(by_hand.iter().any(|step| step.contains("`hardway --dir /c media urls`")), "{by_hand:?}");
}

#[test]
fn without_a_controller_a_person_is_told_what_to_do() {
    let cluster = cluster(json!({}));
    let provider = provider(&cluster);
    let host = &cluster.inventory.hosts[4];
    let steps = provider.by_hand(host).join("\n");
    for part in [
        "worker-0 (worker)",
        "/dev/vda will be lost",
        "52:54:00:7e:00:6e",
        "192.168.126.110",
        "/c/media/worker-0.iso",
        "fetches its config",
    ] {
        assert!(steps.contains(part), "{part} is not in:\n{steps}");
    }
    let boot = &provider.first_boot(host)[1];
    assert_eq!(lines(std::slice::from_ref(boot)), ["hardway --dir /c bmc by-hand --host worker-0"]);
    assert_eq!(boot.holds, ActionCheck::Succeeds(provider.bmc("seen", host)));
    assert!(boot.undo.is_empty() && provider.after_join(host).is_empty());
}

#[test]
fn the_load_balancer_is_ours_or_a_table_for_somebody() {
    let mut ours = cluster(json!({"interface": "eno1"}));
    assert_eq!(provider(&ours).load_balancer(), LoadBalancer::External);
    let table =
        provider(&ours).infrastructure().into_iter().find(|action| action.id == "balancer/table").unwrap();
    assert!(lines(&[table])[0].contains("remove-bootstrap"));
    ours.inventory.network.load_balancer = Balancer::Haproxy;
    let provider = provider(&ours);
    let socket = PathBuf::from(format!("/run/hardway/{}/haproxy.sock", ours.identity.infra_id));
    assert_eq!(provider.load_balancer(), LoadBalancer::Haproxy { admin_socket: socket });
    let ids: Vec<String> = provider.infrastructure().into_iter().map(|action| action.id).collect();
    assert_eq!(ids, ["dns/records", "network/addresses", "balancer/haproxy"]);
    let settings = BareMetalSettings { services: ServicesBy::Daemon, ..provider.settings.clone() };
    let by_hand = BareMetal { settings, ..provider };
    let ids: Vec<String> = by_hand.infrastructure().into_iter().map(|action| action.id).collect();
    assert_eq!(
        ids,
        [
            "dns/records",
            "network/address/192.168.126.10",
            "network/address/192.168.126.11",
            "balancer/haproxy"
        ]
    );
}

#[test]
fn the_name_server_is_told_whom_to_ask_about_other_names() {
    let names = |settings| {
        let actions = provider(&cluster(settings)).infrastructure();
        let records = actions.into_iter().find(|action| action.id == "dns/records").unwrap();
        match &records.does[0] {
            Step::WriteFile { content, .. } => content.clone(),
            other => panic!("{other}"),
        }
    };
    let file = names(json!({"upstreamDNS": ["192.0.2.53", "192.0.2.54"]}));
    assert!(file.contains("\nno-resolv\nno-hosts\nserver=192.0.2.53\nserver=192.0.2.54\n"), "{file}");
    let file = names(json!({}));
    assert!(file.contains("\n# server=ADDRESS\n") && !file.contains("\nserver="), "{file}");
}

#[test]
fn logins_and_trust_are_as_the_settings_say() {
    let read = |more| {
        BareMetalSettings::read(&cluster(with_controller(&more))).unwrap().controllers["master-0"].clone()
    };
    assert_eq!((read(json!({})).login, read(json!({})).trust), (Login::Basic, Trust::System));
    assert_eq!(read(json!({"auth": "session", "insecure": true})).login, Login::Session);
    assert_eq!(read(json!({"insecure": true})).trust, Trust::Anybody);
    assert_eq!(read(json!({"caFile": "bmc.pem"})).trust, Trust::File("bmc.pem".into()));
}

#[test]
fn two_hosts_cannot_be_one_machine() {
    let mut settings = with_controller(&json!({}));
    let mut other = settings["hosts"]["master-0"].clone();
    settings["hosts"]["master-1"] = other.clone();
    let violations = BareMetalSettings::read(&cluster(settings.clone())).unwrap_err();
    let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let path = "machines.bare-metal.hosts.master-1.bmc.address";
    let wanted = format!("{path}: Duplicate value: \"redfish+https://10.0.0.5/redfish/v1/Systems/1\"");
    assert_eq!(told, [wanted]);
    other["bmc"]["address"] = "redfish+https://10.0.0.5/redfish/v1/Systems/2".into();
    settings["hosts"]["master-1"] = other;
    assert_eq!(BareMetalSettings::read(&cluster(settings)).unwrap().controllers.len(), 2);
}

#[test]
fn every_mistake_is_told_at_once_with_its_field_and_without_a_password() {
    let mut cluster = cluster(json!({
        "boot": "usb",
        "color": "red",
        "mediaUrl": "ftp://x",
        "hosts": {
            "master-0": {"bmc": {"address": "redfish://root:hush@10.0.0.5", "user": "admin", "password": "hush"}},
            "master-1": {"bmc": {"address": "ipmi://10.0.0.6", "passwordFile": 7, "caFile": "a", "insecure": true, "auth": "none"}},
            "master-9": {"power": "on"},
        },
    }));
    cluster.inventory.hosts[3].install_disk = None;
    let violations = BareMetalSettings::read(&cluster).unwrap_err();
    let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let all = told.join("\n");
    for part in [
        "machines.bare-metal.color: Unknown field",
        "machines.bare-metal.boot: Unsupported value: \"usb\"",
        "machines.bare-metal.mediaUrl: Invalid value",
        "machines.bare-metal.hosts.master-0.bmc.password: Forbidden",
        "machines.bare-metal.hosts.master-0.bmc.address: Invalid value: <redacted>: must not contain a login",
        "machines.bare-metal.hosts.master-0.bmc.passwordFile: Required value",
        "machines.bare-metal.hosts.master-1.bmc.address: Invalid value: <redacted>: is not Redfish",
        "machines.bare-metal.hosts.master-1.bmc.user: Required value",
        "machines.bare-metal.hosts.master-1.bmc.passwordFile: Invalid value: \"7\": must be a string",
        "machines.bare-metal.hosts.master-1.bmc.insecure: Forbidden",
        "machines.bare-metal.hosts.master-1.bmc.auth: Unsupported value: \"none\"",
        "machines.bare-metal.hosts.master-9.power: Unknown field",
        "machines.bare-metal.hosts.master-9: Invalid value: \"master-9\": no host",
        "hosts[3].installDisk: Required value",
    ] {
        assert!(all.contains(part), "{part} is not in:\n{all}");
    }
    assert_eq!(told.len(), 14, "{all}");
    assert!(!all.contains("hush"), "{all}");
}

#[test]
fn controllers_must_be_told_where_media_are() {
    let mut settings = with_controller(&json!({}));
    settings.as_object_mut().unwrap().remove("mediaUrl");
    let missing = BareMetalSettings::read(&cluster(settings));
    assert!(missing.unwrap_err()[0].to_string().starts_with("machines.bare-metal.mediaUrl: Required value"));
}

#[test]
fn an_address_of_media_is_one_value_of_a_configuration() {
    for url in ["http://a\nconf-script=/tmp/x", "http://a,b", "http://a/\tb", "http://a\0"] {
        let mut settings = with_controller(&json!({}));
        settings["mediaUrl"] = json!(url);
        let refused = BareMetalSettings::read(&cluster(settings)).unwrap_err();
        let said = refused[0].to_string();
        assert!(said.starts_with("machines.bare-metal.mediaUrl: Invalid value"), "{said}");
    }
}

#[test]
fn a_password_is_read_from_a_file_that_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let settings = BareMetalSettings::read(&cluster(with_controller(&json!({"caFile": "bmc.pem"})))).unwrap();
    let settings = &settings.controllers["master-0"];
    let error = settings.open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("the password of admin at redfish+https://10.0.0.5"), "{error}");
    fs_err::create_dir(folder.path().join("secrets")).unwrap();
    let path = folder.path().join("secrets/bmc-master-0");
    fs_err::write(&path, "hush\n").unwrap();
    let mode = |mode| fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o640);
    assert!(matches!(settings.open(folder.path()), Err(PasswordFileError::Open { mode: 0o640, .. })));
    mode(0o600);
    let bmc = settings.open(folder.path()).unwrap();
    assert_eq!(bmc.password.expose_text(), "hush");
    assert_eq!(bmc.trust, Trust::File(folder.path().join("bmc.pem")));
    assert!(!format!("{bmc:?}").contains("hush"));
    fs_err::write(&path, "\n").unwrap();
    assert!(matches!(settings.open(folder.path()), Err(PasswordFileError::Empty { .. })));
}
