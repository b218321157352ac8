//! The load balancer of provider bare-metal: a real HAProxy on this host, on addresses of loopback that nobody else has.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hardway_assets::example;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory::Provider as Kind;
use hardway_journal::Journal;
use hardway_machines::actions::{Action, ActionListener, ActionOutcome, Executor, Host, Program};
use hardway_machines::load_balancer;
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings};
use hardway_machines::providers::{LoadBalancer, Provider as _};
use hardway_testing::until;
use jiff::Timestamp;

#[derive(Default)]
struct Outcomes(Vec<ActionOutcome>);

impl ActionListener for Outcomes {
    fn holds(&mut self, _: &Action, outcome: ActionOutcome) {
        self.0.push(outcome);
    }
}

fn actions(folder: &Path, stage: Stage) -> (Vec<Action>, PathBuf) {
    let mut cluster = example::cluster();
    cluster.inventory.machines.provider = Kind::BareMetal;
    cluster.inventory.network.api_vip = vec![[127, 77, 3, 10].into()];
    cluster.inventory.network.ingress_vip = vec![[127, 77, 3, 11].into()];
    let provider = BareMetal {
        settings: BareMetalSettings::read(&cluster).unwrap(),
        cluster: cluster.clone(),
        program: "hardway".into(),
        folder: folder.to_owned(),
        stage,
    };
    let LoadBalancer::Haproxy { admin_socket } = provider.load_balancer() else { panic!("it is ours") };
    let actions = provider.infrastructure().into_iter();
    (actions.filter(|action| action.id.starts_with("balancer/")).collect(), admin_socket)
}

fn members(socket: &Path) -> BTreeSet<String> {
    load_balancer::servers(socket).unwrap().into_iter().map(|server| server.name).collect()
}

#[test]
fn haproxy_is_started_changed_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join(hardway_journal::FILE_NAME)).unwrap();
    let executor = Executor::new(folder.path(), &journal, &|| Timestamp::UNIX_EPOCH);
    let up = |actions: &[Action]| {
        let mut outcomes = Outcomes::default();
        executor.up(actions, &mut outcomes).unwrap();
        outcomes.0
    };
    let (before, socket) = actions(folder.path(), Stage::Bootstrapping);
    assert_eq!(up(&before), [ActionOutcome::Done; 2]);
    assert_eq!(up(&before), [ActionOutcome::AlreadyHeld; 2]);
    assert!(members(&socket).contains("bootstrap") && members(&socket).contains("master-0"));
    let pid =
        || fs_err::read_to_string(folder.path().join("bare-metal/haproxy.pid")).unwrap().trim().to_owned();
    let first = pid();

    let (after, socket) = actions(folder.path(), Stage::Installed);
    assert_eq!(up(&after), [ActionOutcome::Done; 2]);
    // The one before lets go of the socket when the new one has it.
    until("bootstrap is no member", || !members(&socket).contains("bootstrap"));
    assert!(members(&socket).contains("master-0") && pid() != first);

    let last = pid();
    executor.down(&mut ()).unwrap();
    let runs = |pid: &str| Host::default().run(&Program::words(&format!("kill -0 {pid}"))).is_ok();
    until("no HAProxy runs", || !runs(&first) && !runs(&last));
    assert!(!folder.path().join("bare-metal/haproxy.cfg").exists());
}
