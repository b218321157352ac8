//! Both clusters, an ignition server, and machines.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hardway_base::Secret;
use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::Management;
use hardway_hosted::controller::{Controller, ControllerEvent};
use hardway_hosted::reconcile::RoundSettings;
use hardway_hosted::stand_in::{StandIn, StandInConfig};
use hardway_hosted::token::ROTATION;
use hardway_hosted::worker::{WantedState, Worker};
use hardway_journal::Journal;
use hardway_machines::ignition_server::faces::HostedFace;
use hardway_machines::ignition_server::hosted_tokens::HostedTokens;
use hardway_machines::ignition_server::{
    CertificateFiles, Certificates, ConfigEvent, Faces, Limits, Listen, Recorder, Router, Server, token_watch,
};
use hardway_testing::{ControlPlane, free_port, hosted_control_plane_is_up, install_hypershift, succeed};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::kubelet::{BOOTSTRAPPER, Kubelets};
use crate::running::{Running, controller, program};

/// What the pool's configs are called; see [`Site::config`].
pub(crate) const FIRST: &str = "524b6100";
pub(crate) const SECOND: &str = "1aebabf3";

/// Everything. Fields are dropped in order: who asks goes before who is asked.
pub(crate) struct Site {
    pub(crate) kubelets: Kubelets,
    pub(crate) management: Management,
    pub(crate) hosted: kube::Client,
    pub(crate) server: Option<Serving>,
    pub(crate) endpoint: SocketAddr,
    pub(crate) folder: TempDir,
    pub(crate) evidence: IgnitionEvidence,
    pub(crate) settings: RoundSettings,
    pub(crate) hosted_plane: ControlPlane,
    pub(crate) management_plane: ControlPlane,
}

/// An ignition server of ours.
pub(crate) struct Serving {
    server: Option<Server>,
    watching: JoinHandle<()>,
    _events: mpsc::Receiver<ConfigEvent>,
}

impl Site {
    /// With a HostedCluster and a pool `demo` whose gates are open.
    pub(crate) async fn start(evidence: IgnitionEvidence) -> Self {
        let planes = tokio::task::spawn_blocking(|| {
            let (management, mut hosted) = (ControlPlane::start(), ControlPlane::start());
            hosted.start_controller_manager();
            install_hypershift(&management);
            succeed(management.kubectl().args(["create", "namespace", "clusters"]));
            // Who may ask in a hosted cluster: whoever has the identity that HyperShift gives to all workers, and nobody else.
            succeed(hosted.kubectl().args(["delete", "clusterrolebinding", "ask"]));
            let all = ["clusterrolebinding", "ask", "--clusterrole=system:node-bootstrapper"];
            let user = format!("--user={BOOTSTRAPPER}");
            succeed(hosted.kubectl().arg("create").args(all).arg(user));
            (management, hosted)
        });
        let (management_plane, hosted_plane) = planes.await.unwrap();
        let management =
            Management::connect(Some(&management_plane.kubeconfig()), "clusters", "demo").await.unwrap();
        let endpoint = SocketAddr::from(([127, 0, 0, 1], free_port()));
        management.make(&demo_objects(endpoint)).await.unwrap();
        tokio::task::block_in_place(|| {
            let kubeconfig = hosted_plane.kubeconfig();
            let demo = ("clusters", "demo");
            hosted_control_plane_is_up(&management_plane, demo, &kubeconfig, &endpoint.to_string());
        });
        let hosted = management.hosted_client(None).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kubelets = Kubelets::new(hosted.clone(), folder.path());
        let site = Self {
            kubelets,
            management,
            hosted,
            server: None,
            endpoint,
            folder,
            evidence,
            settings: RoundSettings::default(),
            hosted_plane,
            management_plane,
        };
        site.publish(FIRST).await;
        site.write_program();
        site
    }

    /// A config of the pool is published, with a token of its own.
    pub(crate) async fn publish(&self, hash: &str) {
        let stand_in = StandIn::new(self.management.clone(), Timestamp::now);
        stand_in.publish(&self.config(hash)).await.unwrap();
    }

    /// The token of a config changes, as if its time had come.
    pub(crate) async fn rotate(&self, hash: &str) {
        let stand_in = StandIn::new(self.management.clone(), || Timestamp::now() + ROTATION);
        stand_in.keep(&self.config(hash)).await.unwrap();
    }

    fn config(&self, hash: &str) -> StandInConfig {
        let more = if hash == FIRST { "passwd" } else { "systemd" };
        let config = StandInConfig {
            node_pool: "demo".to_owned(),
            config: Secret::new(format!(r#"{{"ignition":{{"version":"3.2.0"}},"{more}":{{}}}}"#)),
            endpoint: self.endpoint.to_string(),
            authority: self.management_plane.read("ca.crt"),
            release_version: "4.18.1".to_owned(),
        };
        assert_eq!(config.hash(), hash);
        config
    }

    /// Starts face (c) of our own ignition server where the pointers say.
    pub(crate) async fn serve(&mut self) {
        let tokens = Arc::new(HostedTokens::default());
        let namespace = self.management.control_plane();
        let (client, known) = (self.management.client.clone(), Arc::clone(&tokens));
        let watching =
            tokio::spawn(async move { token_watch::watch(client, &namespace, known, |_| {}).await });
        self.serve_tokens(tokens, watching).await;
    }

    /// The same from tokens that somebody else keeps.
    pub(crate) async fn serve_tokens(&mut self, tokens: Arc<HostedTokens>, watching: JoinHandle<()>) {
        let (events, received) = mpsc::channel(1000);
        let journal = Journal::open(&self.folder.path().join(hardway_journal::FILE_NAME)).unwrap();
        let faces = Faces { host: None, pool: None, hosted: Some(HostedFace::new(tokens)) };
        let limits = Limits::default();
        let recorder = Recorder::into_journal(Arc::new(journal)).unwrap();
        let router = Router::new(faces, recorder, events, Arc::new(Timestamp::now), &limits);
        let file = |name: &str| self.management_plane.folder().join(name);
        let files = CertificateFiles { certificate: file("server.crt"), key: file("server.key"), name: None };
        let listen = Listen::Tls(Certificates::load(vec![files]).unwrap());
        let server = Server::start(&[self.endpoint], &listen, limits, Arc::new(router)).await.unwrap();
        self.server = Some(Serving { server: Some(server), watching, _events: received });
    }

    /// Ends it, as a restart does.
    pub(crate) async fn stop_serving(&mut self) {
        let mut serving = self.server.take().unwrap();
        serving.watching.abort();
        serving.server.take().unwrap().end().await;
    }

    /// A controller of that name, with machines.
    pub(crate) fn controller(
        &self,
        identity: &str,
        workers: usize,
    ) -> (Controller, Arc<Mutex<Vec<ControllerEvent>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&told);
        let mut controller =
            controller(&self.management, &self.hosted, self.folder.path(), self.evidence, workers);
        controller.identity = identity.to_owned();
        controller.settings = self.settings.clone();
        controller.tell = Arc::new(move |told| listener.lock().unwrap().push(told.clone()));
        (controller, told)
    }

    /// The same, running.
    pub(crate) fn run(&self, identity: &str, workers: usize) -> Running {
        let (controller, told) = self.controller(identity, workers);
        Running::start(controller, told)
    }

    /// Asks for workers.
    pub(crate) async fn want(&self, numbers: std::ops::Range<usize>) {
        for n in numbers {
            let worker = Worker::planned(&name(n), "demo", &[self.address(n)], Timestamp::now());
            let map = worker.to_config_map("clusters", "demo");
            self.management.api::<ConfigMap>().create(&PostParams::default(), &map).await.unwrap();
        }
    }

    /// Changes what is wanted of a worker.
    pub(crate) async fn change(&self, name: &str, wanted: WantedState) {
        loop {
            let api = self.management.api::<ConfigMap>();
            let map = api.get(&format!("hardway-worker-{name}")).await.unwrap();
            let mut worker = Worker::from_config_map(&map).unwrap();
            worker.wanted = wanted;
            let mut changed = worker.to_config_map("clusters", "demo");
            changed.metadata.resource_version = map.metadata.resource_version;
            if api.replace(&worker.record_name(), &PostParams::default(), &changed).await.is_ok() {
                return;
            }
        }
    }

    /// Every record.
    pub(crate) async fn workers(&self) -> BTreeMap<String, Worker> {
        let maps = self
            .management
            .api::<ConfigMap>()
            .list(&ListParams::default().labels("hardway.dev/hosted-cluster=demo"))
            .await;
        let workers = maps.unwrap().items.into_iter().map(|map| Worker::from_config_map(&map).unwrap());
        workers.map(|worker| (worker.name.clone(), worker)).collect()
    }

    /// Changes the pool.
    pub(crate) async fn patch_pool(&self, patch: serde_json::Value) {
        let api = self.management.api::<hardway_hosted::objects::NodePool>();
        api.patch("demo", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// Where a worker asks from. With an ignition server, from this host: any address of the loopback network can be asked from.
    pub(crate) fn address(&self, n: usize) -> IpAddr {
        let (third, fourth) = (u8::try_from(n / 200).unwrap(), u8::try_from(n % 200 + 1).unwrap());
        match self.evidence {
            IgnitionEvidence::Ignored => IpAddr::from([10, 20, third, fourth]),
            IgnitionEvidence::Required | IgnitionEvidence::IfServed => IpAddr::from([127, 7, third, fourth]),
        }
    }

    fn program(&self) -> PathBuf {
        program(self.folder.path())
    }

    /// A machine is a file with its pointer; kubelets look for such files.
    fn write_program(&self) {
        let machines = self.folder.path().join("machines");
        std::fs::create_dir_all(&machines).unwrap();
        let folder = machines.display();
        let script = format!(
            "#!/bin/sh\nset -e\ncase $1 in\nboot) cp \"$3\" {folder}/.$2; mv {folder}/.$2 {folder}/$2; echo \"boot $2\" >>{folder}/.log ;;\n\
             is-on) test -e {folder}/$2 ;;\nremove) test ! -e {folder}/.away || exit 1; rm -f {folder}/$2; echo \"remove $2\" >>{folder}/.log ;;\nesac\n"
        );
        std::fs::write(self.program(), script).unwrap();
        std::fs::set_permissions(self.program(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What was done to machines, in order.
    pub(crate) fn machine_log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("machines/.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn nodes(&self) -> Api<k8s_openapi::api::core::v1::Node> {
        Api::all(self.hosted.clone())
    }
}

/// The objects of the cluster, as `hardway hosted cluster create` makes them.
fn demo_objects(endpoint: SocketAddr) -> Vec<serde_json::Value> {
    use hardway_hosted::render::*;
    let pool = NodePoolRequest {
        name: "demo".into(),
        namespace: "clusters".into(),
        cluster: "demo".into(),
        release_image: "quay.io/example/release:4.18.1".into(),
        replicas: 3,
        arch: "amd64".into(),
        upgrade_type: UpgradeType::InPlace,
        max_unavailable: None,
        auto_repair: false,
        node_labels: [("zone".to_owned(), "a".to_owned())].into(),
        taints: vec![hardway_hosted::objects::Taint {
            key: "only".into(),
            value: Some("demo".into()),
            effect: "NoSchedule".into(),
        }],
    };
    let request = ClusterRequest {
        name: "demo".into(),
        namespace: "clusters".into(),
        base_domain: "example.com".into(),
        release_image: pool.release_image.clone(),
        pull_secret: Secret::new(r#"{"auths":{}}"#),
        ssh_key: None,
        address: endpoint.ip().to_string(),
        ports: ServicePorts::of_cluster("clusters", "demo"),
        cluster_network: "10.132.0.0/14".into(),
        service_network: "172.31.0.0/16".into(),
        machine_network: None,
        availability: Availability::SingleReplica,
        storage_class: None,
        storage_size: "8Gi".into(),
        fips: false,
        trust_bundle: None,
        infra_id: "demo-abcde".into(),
        encryption_key: Secret::new([7; 32]),
        node_pool: Some(pool),
    };
    objects(&request).unwrap()
}

pub(crate) fn name(n: usize) -> String {
    format!("worker-{n}")
}
