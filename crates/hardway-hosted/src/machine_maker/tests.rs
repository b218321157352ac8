//! What is done for the machine of a hosted worker, provider by provider.

use std::path::Path;

use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::Balancer;
use hardway_assets::{Cluster, example};
use hardway_journal::{
    ActionFinished, ActionStarted, ActionUndone, Face, IgnitionRedeemed, InstallBegun, NodeJoined,
};
use hardway_machines::actions::{Program, Step};
use hardway_machines::providers::bare_metal::{self, BareMetal, BareMetalSettings};
use hardway_machines::providers::gce::{Gce, GceSettings};
use hardway_machines::providers::libvirt::{HostFacts, Libvirt, Resolver, Settings};
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

fn cluster(settings: Value) -> Cluster {
    let mut cluster = example::cluster();
    cluster.inventory.machines.settings = settings;
    cluster.inventory.network.load_balancer = Balancer::External;
    cluster
}

fn bare_metal(settings: Value, folder: &Path, program: &Path) -> (Cluster, Arc<dyn Provider>) {
    let cluster = cluster(settings);
    let settings = BareMetalSettings::read(&cluster).unwrap();
    let (program, folder) = (program.to_owned(), folder.to_owned());
    let provider = BareMetal {
        cluster: cluster.clone(),
        settings,
        program,
        folder,
        stage: InstallStage::Installed,
        facts: bare_metal::HostFacts::default(),
    };
    (cluster, Arc::new(provider))
}

fn with_controllers(boot: &str) -> Value {
    let bmc = |n: u8| {
        let address = format!("redfish+https://10.0.0.5/redfish/v1/Systems/{n}");
        json!({"bmc": {"address": address, "user": "admin", "passwordFile": "secrets/bmc"}})
    };
    json!({"boot": boot, "mediaUrl": "http://192.168.126.2:8080", "hosts": {"worker-0": bmc(0), "worker-1": bmc(1)}})
}

fn maker(cluster: &Cluster, provider: Arc<dyn Provider>, folder: &Path) -> MachineMaker {
    let hosts = cluster.inventory.hosts.iter().filter(|host| host.name.starts_with("worker")).cloned();
    MachineMaker::new(provider, hosts, folder, Arc::new(|| Timestamp::UNIX_EPOCH)).unwrap()
}

/// What is run for the media and for the machine, and under which names, in the folder `/c`.
fn planned(cluster: &Cluster, provider: Arc<dyn Provider>) -> (Vec<String>, Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut maker = maker(cluster, provider, folder.path());
    maker.folder = "/c".into();
    let Boot { shared, media, own } = maker.plan(maker.host("worker-0").unwrap());
    assert!(shared.iter().all(|action| !action.id.starts_with("machine/")));
    let lines = |actions: &[Action]| -> Vec<String> {
        actions.iter().flat_map(|action| action.does.iter().map(Step::to_string)).collect()
    };
    let all = lines(&[&media[..], &own].concat());
    for of_this_cluster in ["ignition/", "--pointer", "worker.ign"] {
        assert!(all.iter().all(|line| !line.contains(of_this_cluster)), "{of_this_cluster}: {all:#?}");
    }
    (lines(&media), lines(&own), own.iter().map(|action| action.id.clone()).collect())
}

#[test]
fn libvirt_machines_install_from_a_medium_with_the_pointer() {
    let cluster = cluster(json!({}));
    let facts = HostFacts {
        has_kvm: true,
        has_systemd: true,
        has_firewalld: false,
        has_selinux: false,
        resolver: Resolver::Other,
    };
    let settings = Settings::of(&cluster).unwrap();
    let libvirt = Libvirt::planned(&cluster, Path::new("/c"), InstallStage::Installed, settings, facts);
    let (media, own, names) = planned(&cluster, Arc::new(libvirt));
    let make =
        "hardway --dir /c media iso --host worker-0 --config /c/hosted/worker-0.ign --live-karg-append";
    assert!(media.len() == 2 && media[1].starts_with(make), "{media:#?}");
    let names: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("machine/worker-0/")).collect();
    assert_eq!(names[names.len() - 4..], ["disk", "definition", "medium", "boot"]);
    assert!(
        own.iter().any(|line| line.contains("vol-upload") && line.contains("/c/media/worker-0.iso")),
        "{own:#?}"
    );
}

#[test]
fn bare_metal_machines_with_a_controller_install_from_a_medium_with_the_pointer() {
    let (cluster, provider) = bare_metal(with_controllers("iso"), Path::new("/c"), Path::new("hardway"));
    let (media, own, names) = planned(&cluster, provider);
    assert_eq!(media[1..], ["hardway --dir /c media iso --host worker-0 --config /c/hosted/worker-0.ign"]);
    assert_eq!(names, ["machine/worker-0/controller", "machine/worker-0/first-boot"]);
    assert!(own.contains(&"hardway --dir /c bmc insert --host worker-0".to_owned()), "{own:#?}");

    let (cluster, provider) = bare_metal(with_controllers("pxe"), Path::new("/c"), Path::new("hardway"));
    let (media, own, _) = planned(&cluster, provider);
    let make = "hardway --dir /c media pxe --url http://192.168.126.2:8080 --host worker-0 --config /c/hosted/worker-0.ign";
    assert_eq!(media, [make]);
    assert!(own.contains(&"hardway --dir /c bmc boot-once-pxe --host worker-0".to_owned()), "{own:#?}");
}

/// Nobody can see that a person switched a machine on: it counts as on as soon as it can be, and the person is told.
#[test]
fn a_machine_without_a_controller_is_a_persons_to_switch_on() {
    let (cluster, provider) = bare_metal(json!({}), Path::new("/c"), Path::new("hardway"));
    let (media, own, _) = planned(&cluster, Arc::clone(&provider));
    assert_eq!((media.len(), own.len()), (2, 0), "{media:#?} {own:#?}");
    let site = Site::new(json!({}));
    let told = site.maker.boot(&of("worker-0"), &Secret::new("{}")).unwrap().by_hand.join("\n");
    assert!(told.contains("media/worker-0.iso"), "{told}");
    assert_eq!(site.made(), ["worker-0"]);
}

/// Whoever asks while the medium is made asks before the machine is on. Every look at this clock is a second.
#[test]
fn a_machine_is_on_once_its_medium_is_made_and_not_before() {
    for (settings, last) in [(with_controllers("iso"), "machine/worker-0/first-boot"), (json!({}), "")] {
        let mut site = Site::new(settings);
        let seconds = Arc::new(std::sync::atomic::AtomicI64::new(0));
        site.maker.now = Arc::new(move || {
            let second = seconds.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Timestamp::from_second(second).unwrap()
        });
        let on = site.maker.boot(&of("worker-0"), &Secret::new("{}")).unwrap().at;
        let records = hardway_journal::read(&site.path(hardway_journal::FILE_NAME)).unwrap();
        let (mut begun, mut ended) = (Vec::new(), Vec::new());
        for record in &records {
            if let Some(Ok(ActionStarted { action, .. })) = record.fact() {
                begun.push((action, record.time));
            }
            if let Some(Ok(ActionFinished { action })) = record.fact() {
                ended.push((action, record.time));
            }
        }
        let before = ended.iter().filter(|(action, _)| action != last);
        assert!(before.clone().count() > 0 && before.clone().all(|(_, at)| *at < on), "{on} {ended:?}");
        assert!(begun.iter().filter(|(action, _)| action == last).all(|(_, at)| *at > on), "{on} {begun:?}");
    }
}

#[test]
fn gce_machines_get_the_pointer_and_it_is_taken_away() {
    let cluster = cluster(json!({"project": "acme", "zones": ["us-central1-a"], "image": "rhcos"}));
    let settings = GceSettings::read(&cluster).unwrap();
    let (gcloud, folder) = ("gcloud".to_owned(), PathBuf::from("/c"));
    let gce = Gce { cluster: cluster.clone(), settings, gcloud, folder, stage: InstallStage::Installed };
    let gone = gce.after_join(&cluster.inventory.hosts[4]);
    assert!(gone[0].does[0].to_string().contains("remove-metadata"), "{gone:?}");
    let (media, own, names) = planned(&cluster, Arc::new(gce));
    assert!(media.is_empty() && names == ["machine/worker-0/instance"]);
    let create = own.iter().find(|line| line.contains("instances create")).unwrap();
    assert!(create.contains("--metadata-from-file=user-data=/c/hosted/worker-0.ign"), "{create}");
}

/// Whoever makes a medium keeps others out of the folder: were two made at once, one would fail.
#[test]
fn media_of_several_machines_are_made_one_after_the_other() {
    let site = Site::new(with_controllers("iso"));
    std::thread::scope(|scope| {
        let boots: Vec<_> = ["worker-0", "worker-1"]
            .map(|name| scope.spawn(|| site.maker.boot(&of(name), &Secret::new("{}"))))
            .into();
        for boot in boots {
            assert_eq!(boot.join().unwrap().unwrap().by_hand, Vec::<String>::new());
        }
    });
    let mut made = site.made();
    made.sort();
    assert_eq!(made, ["worker-0", "worker-1"]);
    for name in ["worker-0", "worker-1"] {
        let [pointer, medium] = [format!("hosted/{name}.ign"), format!("media/{name}.iso")];
        assert!(site.path(&pointer).exists() && site.path(&medium).exists());
        let mode = |path: &str| fs::metadata(site.path(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&pointer), mode("hosted")), (0o600, 0o700));
        site.maker.settle(&of(name)).unwrap();
        assert!(!site.path(&pointer).exists() && !site.path(&medium).exists(), "its token is in neither");
    }
    assert!(fs::read_to_string(site.path("calls")).unwrap().contains("bmc eject --host worker-0"));
}

/// Whoever can write records asks for machines of other pools, of other clusters, and of the folder's own cluster.
#[test]
fn a_machine_of_somebody_else_is_left_alone() {
    let site = Site::new(with_controllers("iso"));
    let others = [
        MachineOf { node_pool: "other".to_owned(), ..of("worker-0") },
        MachineOf { cluster: "clusters/other".to_owned(), ..of("worker-0") },
        MachineOf { cluster: "elsewhere/demo".to_owned(), ..of("worker-0") },
    ];
    site.maker.boot(&of("worker-0"), &Secret::new("{}")).unwrap();
    let calls = site.calls();
    for other in &others {
        let deeds = [
            site.maker.boot(other, &Secret::new("stolen")).map(drop),
            site.maker.settle(other),
            site.maker.remove(other),
        ];
        for deed in deeds {
            let said = deed.unwrap_err().to_string();
            assert!(
                said.starts_with(
                    "not touching machine worker-0: it was made for pool demo of cluster clusters/demo"
                ),
                "{said}"
            );
        }
    }
    assert_eq!(site.calls(), calls, "nothing was run");
    assert_eq!(fs::read_to_string(site.path("hosted/worker-0.ign")).unwrap(), "{}");
    // After a restart as well; and once it is gone, it is whose comes first.
    let again = maker(&site.cluster, Arc::clone(&site.maker.provider), site.folder.path());
    assert!(matches!(again.remove(&others[0]), Err(HostedError::NotOurs { .. })));
    again.remove(&of("worker-0")).unwrap();
    assert!(site.calls().contains("bmc eject --host worker-0"), "{}", site.calls());
    site.maker.boot(&others[1], &Secret::new("{}")).unwrap();
    assert!(matches!(again.boot(&of("worker-0"), &Secret::new("{}")), Err(HostedError::NotOurs { .. })));
}

#[test]
fn a_machine_of_the_folders_own_cluster_is_left_alone() {
    let site = Site::new(with_controllers("iso"));
    let own = |action: &str| {
        let program = Program::new("touch", [site.path("taken-away").to_str().unwrap()]);
        let (does, undo) = (Vec::new(), vec![Step::Run(program)]);
        site.write(&ActionStarted { action: action.to_owned(), why: String::new(), does, undo });
        site.write(&ActionFinished { action: action.to_owned() });
    };
    own("machine/master-0/definition");
    own("machine/worker-0/first-boot");
    site.write(&IgnitionRedeemed {
        host: "worker-1".to_owned(),
        digest: "1".to_owned(),
        source: [10, 0, 0, 1].into(),
        face: Face::Host,
    });
    for name in ["master-0", "worker-0", "worker-1"] {
        for deed in [site.maker.settle(&of(name)), site.maker.remove(&of(name))] {
            let said = deed.unwrap_err().to_string();
            assert!(said.contains("of this working folder"), "{name}: {said}");
        }
        assert!(site.maker.boot(&of(name), &Secret::new("{}")).is_err(), "{name}");
    }
    assert!(
        !site.path("taken-away").exists() && !site.path("hosted").exists() && !site.path("calls").exists()
    );
    // What was only made ready is whoever's comes.
    site.write(&ActionUndone { action: "machine/worker-0/first-boot".to_owned() });
    own("machine/worker-0/definition");
    site.maker.boot(&of("worker-0"), &Secret::new("{}")).unwrap();
}

/// A record of a worker that never came, or under a name that is a path.
#[test]
fn what_was_never_made_is_not_taken_away() {
    let site = Site::new(with_controllers("iso"));
    fs::create_dir(site.path("hosted")).unwrap();
    for path in ["hosted/worker-0.ign", "pull-secret.ign"] {
        fs::write(site.path(path), "precious").unwrap();
    }
    for name in ["worker-0", "nobody", "../pull-secret", "..", ""] {
        site.maker.remove(&of(name)).unwrap();
        site.maker.settle(&of(name)).unwrap();
    }
    assert!(site.maker.boot(&of("../pull-secret"), &Secret::new("{}")).is_err());
    for path in ["hosted/worker-0.ign", "pull-secret.ign"] {
        assert_eq!(fs::read_to_string(site.path(path)).unwrap(), "precious");
    }
    assert!(!site.path("calls").exists());
}

fn of(machine: &str) -> MachineOf {
    MachineOf {
        machine: machine.to_owned(),
        cluster: "clusters/demo".to_owned(),
        node_pool: "demo".to_owned(),
    }
}

/// A folder with a stand-in for the program itself, which keeps others out while it makes a medium.
struct Site {
    folder: TempDir,
    cluster: Cluster,
    maker: MachineMaker,
}

impl Site {
    fn new(settings: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let script = "#!/bin/sh
cd \"$2\"; shift 2; echo \"$*\" >>calls
case \"$*\" in
*--dry-run*) ;;
'media iso '*) mkdir lock || exit 1; sleep 1; mkdir -p media; cp \"$6\" \"media/$4.iso\"; echo \"$4\" >>made; rmdir lock ;;
'bmc insert '*) touch \"inserted-$4\" ;;
'bmc eject '*) rm \"inserted-$4\" ;;
'bmc status '*) echo 'power: on'; test -e \"inserted-$4\" || echo 'medium: none' ;;
esac
";
        // By another process: one that this one starts meanwhile would hold it open, and it could not be run.
        let copy = Step::WriteFile { path: program.clone(), mode: 0o755, content: script.to_owned() };
        hardway_testing::succeed(std::process::Command::new("sh").args(["-c", &copy.to_string()]));
        let (cluster, provider) = bare_metal(settings, folder.path(), &program);
        let maker = maker(&cluster, provider, folder.path());
        Self { folder, cluster, maker }
    }

    fn write<F: Fact>(&self, fact: &F) {
        self.maker.write_down(fact).unwrap();
    }

    /// What the program was called with.
    fn calls(&self) -> String {
        fs::read_to_string(self.path("calls")).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whose media were made.
    fn made(&self) -> Vec<String> {
        fs::read_to_string(self.path("made")).unwrap().lines().map(str::to_owned).collect()
    }
}

/// It was installed by hand or over the network, so that nobody fetched a config with a token; but the journal says that it is a node.
#[test]
fn a_node_of_the_folders_own_cluster_is_nobody_elses() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (program, log) = (folder.path().join("program"), folder.path().join("log"));
    fs::write(&program, "#!/bin/sh\necho \"$@\" >>\"$(dirname \"$0\")/log\"\n[ \"$1\" != is-on ]\n").unwrap();
    fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cluster = example::cluster();
    let provider = crate::program_provider::ProgramProvider::new(&program, folder.path());
    let maker = maker(&cluster, Arc::new(provider), folder.path());
    let (begun, joined) = ("worker-0".to_owned(), "worker-1".to_owned());
    maker.write_down(&InstallBegun { host: begun.clone(), source: [10, 0, 0, 1].into() }).unwrap();
    maker.write_down(&NodeJoined { host: joined.clone() }).unwrap();
    for machine in [begun, joined] {
        let of = HostedMachine { machine, cluster: "clusters/tenant".into(), node_pool: "tenant".into() };
        maker.boot(&of, &Secret::new("{}")).unwrap_err();
        maker.remove(&of).unwrap_err();
    }
    let asked = fs::read_to_string(log).unwrap_or_default();
    assert!(asked.lines().all(|line| line.starts_with("is-on")), "{asked}");
}
