//! A whole install as a journal tells it: made up, with the facts that a lab install writes, in their order and at their pace.

use hardway_journal::{
    ActionFinished, ActionStarted, BootstrapComplete, ChainLink, CsrDecided, CsrIntended, CsrVerdict, Entry,
    EtcdMember, EtcdRole, EtcdSeen, Face, Fact, HostSeen, HostedMachine, HostedStep, IgnitionOffered,
    IgnitionRedeemed, Interrupted, Journal, MachineRetired, NodeJoined, NodeSeen, OperatorCondition,
    OperatorSeen, PhaseFailed, PhaseFinished, PhaseName, PhaseReset, PhaseStarted, Reason, Sight, WorkerStep,
};
use hardway_testing::Work;
use jiff::{SignedDuration, Timestamp};

/// Entries, each a while after the one before.
pub(super) struct Recording {
    now: Timestamp,
    pub(super) entries: Vec<Entry>,
    requests: u32,
}

const OPERATORS: [&str; 12] = [
    "authentication",
    "console",
    "dns",
    "etcd",
    "image-registry",
    "ingress",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "machine-config",
    "monitoring",
    "network",
];

/// From the first check to the last, with a phase that fails and is done again, and one that a person stops.
pub(super) fn whole_install() -> Vec<Entry> {
    let mut recording =
        Recording { now: "2026-11-15T06:00:00Z".parse().unwrap(), entries: Vec::new(), requests: 0 };
    recording.files();
    recording.bootstrap();
    recording.control_plane();
    recording.workers();
    recording.operators();
    recording.entries
}

impl Recording {
    fn files(&mut self) {
        self.phase(PhaseName::CheckHost, 3, "10 checks passed");
        self.start(PhaseName::BuildInfra);
        for action in ["network/files", "network/segment", "dns/service", "balancer/service"] {
            self.action(action);
        }
        self.after(1, &Interrupted { phase: PhaseName::BuildInfra });
        self.start(PhaseName::BuildInfra);
        for action in ["machine/bootstrap", "machine/master-0", "machine/master-1", "machine/master-2"] {
            self.action(action);
        }
        self.finish(PhaseName::BuildInfra, 4, "23 things hold");
        self.phase(PhaseName::FetchRelease, 25, "4.18.1, 190 images");
        self.phase(PhaseName::MakePki, 2, "41 certificates");
        self.phase(PhaseName::MakeKubeconfigs, 1, "9 kubeconfigs");
        self.phase(PhaseName::MakeManifests, 2, "120 manifests");
        self.start(PhaseName::RenderNodes);
        self.after(
            30,
            &PhaseFailed {
                phase: PhaseName::RenderNodes,
                code: "render-failed".into(),
                what: "podman could not start".into(),
                evidence: vec!["Error: no space left on device".into()],
                fix: Some("podman system prune --all".into()),
            },
        );
        self.after(60, &PhaseReset { phase: PhaseName::RenderNodes });
        self.phase(PhaseName::RenderNodes, 40, "2 pools rendered");
        self.phase(PhaseName::MakeIgnition, 2, "6 configs");
    }

    fn bootstrap(&mut self) {
        self.start(PhaseName::InstallOs);
        for host in ["bootstrap", "master-0", "master-1", "master-2"] {
            self.after(1, &IgnitionOffered { host: host.into(), digest: "g1".into() });
            self.see(host, Sight::On);
            self.fetch(host);
        }
        self.finish(PhaseName::InstallOs, 20, "4 machines have fetched their configs");
        self.phase(PhaseName::AwaitBootstrap, 240, "the version operator says: Working towards 4.18.1");
    }

    fn control_plane(&mut self) {
        self.start(PhaseName::JoinControlPlane);
        let member = |name: &str, role| EtcdMember { name: name.into(), role, is_healthy: true };
        let mut members = vec![member("etcd-bootstrap", EtcdRole::Leader)];
        self.after(5, &EtcdSeen { members: members.clone() });
        for operator in OPERATORS {
            self.operator(operator, [OperatorCondition::Unknown; 3]);
        }
        self.request("master-9", CsrVerdict::Deny, "pem-malformed");
        for host in ["master-0", "master-1", "master-2"] {
            self.request(host, CsrVerdict::Approve, "first-client");
            self.request(host, CsrVerdict::Hold, "request-too-large");
            self.request(host, CsrVerdict::Approve, "first-serving");
            self.after(2, &NodeJoined { host: host.into() });
            self.node(host, false);
        }
        self.node("master-0", true);
        self.finish(PhaseName::JoinControlPlane, 10, "3 of 3 masters are nodes");
        self.start(PhaseName::AwaitEtcd);
        for host in ["master-0", "master-1", "master-2"] {
            members.push(EtcdMember { name: String::new(), role: EtcdRole::Learner, is_healthy: false });
            self.after(20, &EtcdSeen { members: members.clone() });
            *members.last_mut().unwrap() = member(host, EtcdRole::Learner);
            self.after(10, &EtcdSeen { members: members.clone() });
            *members.last_mut().unwrap() = member(host, EtcdRole::Voter);
            self.after(10, &EtcdSeen { members: members.clone() });
        }
        members.remove(0);
        members[0].role = EtcdRole::Leader;
        self.after(30, &EtcdSeen { members });
        self.after(1, &BootstrapComplete { host: "bootstrap".into() });
        self.finish(PhaseName::AwaitEtcd, 1, "the masters carry the cluster");
        self.start(PhaseName::RemoveBootstrap);
        self.after(3, &MachineRetired { host: "bootstrap".into() });
        self.finish(PhaseName::RemoveBootstrap, 5, "the bootstrap host is gone");
    }

    fn workers(&mut self) {
        self.start(PhaseName::BootWorkers);
        self.see("worker-0", Sight::On);
        self.fetch("worker-0");
        self.finish(PhaseName::BootWorkers, 5, "1 machine has fetched its config");
        self.start(PhaseName::JoinWorkers);
        self.request("worker-0", CsrVerdict::Approve, "first-client");
        self.request("worker-0", CsrVerdict::Approve, "first-serving");
        self.after(2, &NodeJoined { host: "worker-0".into() });
        for host in ["master-1", "master-2", "worker-0"] {
            self.node(host, true);
        }
        self.finish(PhaseName::JoinWorkers, 2, "1 of 1 workers is a node");
        let machine = |name: &str| HostedMachine {
            machine: name.into(),
            cluster: "clusters/guest".into(),
            node_pool: "pool-a".into(),
        };
        self.after(2, &machine("guest-0"));
        self.hosted("guest-0", WorkerStep::Boot, None);
        self.hosted("guest-0", WorkerStep::Settle, None);
        self.after(2, &machine("guest-1"));
        self.hosted("guest-1", WorkerStep::Boot, Some("the controller does not answer"));
    }

    fn operators(&mut self) {
        use OperatorCondition::{False, True};
        self.start(PhaseName::AwaitOperators);
        for operator in OPERATORS {
            self.operator(operator, [False, True, False]);
        }
        self.operator("authentication", [False, True, True]);
        for operator in OPERATORS.iter().rev() {
            self.operator(operator, [True, True, False]);
            self.operator(operator, [True, False, False]);
        }
        self.finish(PhaseName::AwaitOperators, 30, "12 operators are at rest");
        self.phase(PhaseName::VerifyCluster, 10, "14 checks passed");
    }

    fn after<F: Fact>(&mut self, seconds: i64, fact: &F) {
        self.now += SignedDuration::from_secs(seconds);
        self.entries.push(Entry::of(self.now, fact));
    }

    fn start(&mut self, phase: PhaseName) {
        self.after(1, &PhaseStarted { phase, why: format!("{phase} does not hold yet") });
    }

    fn finish(&mut self, phase: PhaseName, seconds: i64, evidence: &str) {
        self.after(seconds, &PhaseFinished { phase, evidence: evidence.into() });
    }

    fn phase(&mut self, phase: PhaseName, seconds: i64, evidence: &str) {
        self.start(phase);
        self.finish(phase, seconds, evidence);
    }

    fn action(&mut self, action: &str) {
        let why = "machines reach each other".to_owned();
        let (does, undo) = (Vec::new(), Vec::new());
        self.after(1, &ActionStarted { action: action.into(), why, does, undo });
        self.after(1, &ActionFinished { action: action.into() });
    }

    fn see(&mut self, host: &str, sight: Sight) {
        self.after(2, &HostSeen { host: host.into(), sight, by: "lab".into() });
    }

    fn fetch(&mut self, host: &str) {
        let (host, source, face) = (host.to_owned(), [192, 168, 126, 101].into(), Face::Host);
        self.after(8, &IgnitionRedeemed { host, digest: "g1".into(), source, face });
    }

    fn request(&mut self, host: &str, verdict: CsrVerdict, reason: &str) {
        self.requests += 1;
        let decided = CsrDecided {
            request: format!("csr-{}", self.requests),
            uid: format!("uid-{}", self.requests),
            node: format!("{host}.ocp4.example.com"),
            signer: "kubernetes.io/kube-apiserver-client-kubelet".into(),
            key_id: "k".into(),
            username: String::new(),
            verdict,
            reason: Reason::new(reason),
            evidence: vec![format!("{host} fetched its config")],
            more: 0,
        };
        self.after(1, &CsrIntended(decided.clone()));
        self.after(1, &decided);
    }

    fn operator(&mut self, operator: &str, [available, progressing, degraded]: [OperatorCondition; 3]) {
        let link = |subject: &str, fix: &str| ChainLink {
            subject: subject.into(),
            what: format!("{subject} is not there yet"),
            fix: Some(fix.into()),
        };
        let waits_for = match available {
            OperatorCondition::True => Vec::new(),
            _ => vec![
                link(&format!("operator {operator}"), "oc get co"),
                link("node worker-0", "hardway approve"),
            ],
        };
        let operator = operator.to_owned();
        self.after(3, &OperatorSeen { operator, available, progressing, degraded, waits_for });
    }

    fn node(&mut self, host: &str, is_ready: bool) {
        self.after(1, &NodeSeen { node: format!("{host}.ocp4.example.com"), is_ready });
    }

    fn hosted(&mut self, worker: &str, step: WorkerStep, error: Option<&str>) {
        let (cluster, worker) = ("clusters/guest".to_owned(), worker.to_owned());
        self.after(4, &HostedStep { cluster, worker, step, error: error.map(str::to_owned) });
    }
}

/// Writes the first of them into the journal of a folder, in place of what is there.
pub(super) fn write(work: &Work, entries: &[Entry]) {
    let path = work.path(hardway_journal::FILE_NAME);
    if path.exists() {
        fs_err::remove_file(&path).unwrap();
    }
    Journal::open(&path).unwrap().append(entries).unwrap();
}

/// One that only differs in length: so many lines about hosts that come and go.
pub(super) fn long(count: usize) -> Vec<Entry> {
    let mut entries = whole_install();
    let mut now = entries.last().unwrap().time;
    for number in entries.len()..count {
        now += SignedDuration::from_secs(1);
        let host = format!("master-{}", number % 3);
        let sight = if number % 2 == 0 { Sight::Off } else { Sight::On };
        entries.push(Entry::of(now, &HostSeen { host, sight, by: "lab".into() }));
    }
    entries
}
