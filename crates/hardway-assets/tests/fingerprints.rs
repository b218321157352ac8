//! Fingerprints change if and only if inputs do: every input is changed in turn, and every asset whose bytes change must
//! have announced the input it came from.

use hardway_assets::graph::{FileState, Graph, Inputs, Lock, Plan, World, plan};
use hardway_assets::install_config::{
    self, Capabilities, ImageSource, InstallConfig, OvnIpv4, OvnKubernetesConfig, Proxy, Rules,
};
use hardway_assets::inventory::{self, Inventory, ServerUrl};
use hardway_assets::release_payload::{ReleasePayload, sample};
use hardway_assets::secrets::{Comes, HostGeneration, SecretBundle, TOKEN_KEY};
use hardway_assets::{Cluster, Tree};
use hardway_base::Secret;

use crate::common::{self, identity, make_checked, secrets, texts};

struct State {
    cluster: Cluster,
    release: ReleasePayload,
    secrets: SecretBundle,
}

fn base() -> State {
    let (config, inventory) = texts("ha");
    let config = install_config::read(&config, Rules::for_version("4.18.0")).unwrap().value;
    let inventory = inventory::read(&inventory, Some(&config)).unwrap().value;
    let cluster = Cluster { config, inventory, identity: identity() };
    let secrets = secrets(&cluster);
    State { cluster, release: sample(), secrets }
}

fn run(state: &State, tree: &Tree, lock: &Lock) -> Plan {
    // A renamed host needs keys of its own; those that are there stay.
    let mut files: std::collections::BTreeMap<String, Vec<u8>> =
        secrets(&state.cluster).files().map(|(n, s)| (n.to_owned(), s.expose().to_vec())).collect();
    files.extend(state.secrets.files().map(|(n, s)| (n.to_owned(), s.expose().to_vec())));
    let all = SecretBundle::from_files(files);
    let graph = Graph::of(&state.cluster, &state.release, &Tree::default(), &Lock::default()).unwrap();
    let inputs = Inputs { cluster: &state.cluster, release: &state.release, secrets: &all, tree };
    let world = World { inputs, lock, generator: "test", expiring: &[], undone: &[] };
    plan(&graph, &world, |_| true).unwrap_or_else(|e| panic!("{}: {}", e.asset, e.error))
}

fn after(plan: &Plan, tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    plan.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
    plan.removals.iter().for_each(|path| tree.remove(path));
    tree
}

type Mutation = (&'static str, fn(&mut State));

fn config(change: fn(&mut InstallConfig)) -> impl Fn(&mut State) {
    move |state| change(&mut state.cluster.config)
}

fn inventory_of(state: &mut State) -> &mut Inventory {
    &mut state.cluster.inventory
}

/// Every secret as `change` makes it from its name and content.
fn with_secrets(state: &mut State, change: impl Fn(&str, Vec<u8>) -> Vec<u8>) {
    let files = state.secrets.files();
    let changed = files.map(|(name, secret)| (name.to_owned(), change(name, secret.expose().to_vec())));
    state.secrets = SecretBundle::from_files(changed.collect::<Vec<_>>());
}

fn mutations() -> Vec<Mutation> {
    vec![
        ("baseDomain", |s| config(|c| c.base_domain = "other.example".into())(s)),
        ("metadata.name", |s| config(|c| c.metadata.name = "other".into())(s)),
        ("serviceNetwork", |s| {
            config(|c| c.networking.service_network = vec!["172.31.0.0/16".parse().unwrap()])(s)
        }),
        ("clusterNetwork", |s| config(|c| c.networking.cluster_network[0].host_prefix = 24)(s)),
        ("machineNetwork", |s| {
            config(|c| c.networking.machine_network[0].cidr = "192.168.126.0/25".parse().unwrap())(s)
        }),
        ("joinSubnet", |s| {
            config(|c| {
                let ipv4 = Some(OvnIpv4 { internal_join_subnet: Some("100.65.0.0/16".parse().unwrap()) });
                c.networking.ovn_kubernetes_config = Some(OvnKubernetesConfig { ipv4 });
            })(s);
        }),
        ("worker replicas", |s| config(|c| c.compute[0].replicas = 0)(s)),
        ("one worker", |s| config(|c| c.compute[0].replicas = 1)(s)),
        ("control plane replicas", |s| config(|c| c.control_plane.replicas = 5)(s)),
        ("hyperthreading", |s| config(|c| c.control_plane.hyperthreading = "Disabled".into())(s)),
        ("worker hyperthreading", |s| config(|c| c.compute[0].hyperthreading = "Disabled".into())(s)),
        ("fips", |s| config(|c| c.fips = true)(s)),
        ("sshKey", |s| config(|c| c.ssh_key = c.ssh_key.replace("admin", "root"))(s)),
        ("no sshKey", |s| config(|c| c.ssh_key = String::new())(s)),
        ("pullSecret", |s| config(|c| c.pull_secret = Secret::new(r#"{"auths":{"x":{"auth":"eA=="}}}"#))(s)),
        ("trust bundle", |s| {
            config(|c| {
                c.additional_trust_bundle = include_str!("scenarios/disconnected/install-config.yaml")
                    .split_once("additionalTrustBundle: |\n")
                    .unwrap()
                    .1
                    .split_once("additionalTrustBundlePolicy")
                    .unwrap()
                    .0
                    .replace("  ", "")
            })(s)
        }),
        ("trust policy", |s| config(|c| c.additional_trust_bundle_policy = "Always".into())(s)),
        ("proxy", |s| {
            config(|c| {
                c.proxy = Some(Proxy {
                    http_proxy: "http://p:1".into(),
                    https_proxy: String::new(),
                    no_proxy: "a.example".into(),
                })
            })(s)
        }),
        ("mirrors", |s| {
            config(|c| {
                c.image_digest_sources = vec![ImageSource {
                    mirrors: vec!["m.example/x".into()],
                    source: "quay.io/x".into(),
                    source_policy: String::new(),
                }]
            })(s)
        }),
        ("old mirrors", |s| {
            config(|c| {
                c.image_content_sources = vec![ImageSource {
                    mirrors: vec!["m.example/x".into()],
                    source: "quay.io/x".into(),
                    source_policy: String::new(),
                }]
            })(s)
        }),
        ("capabilities", |s| {
            config(|c| {
                c.capabilities = Some(Capabilities {
                    additional_enabled_capabilities: vec!["Ingress".into()],
                    baseline_capability_set: "None".into(),
                })
            })(s)
        }),
        ("featureSet", |s| config(|c| c.feature_set = "TechPreviewNoUpgrade".into())(s)),
        ("cpuPartitioning", |s| config(|c| c.cpu_partitioning_mode = "AllNodes".into())(s)),
        ("a host's address", |s| inventory_of(s).hosts[1].ip = vec!["192.168.126.77".parse().unwrap()]),
        ("the bootstrap host's address", |s| {
            inventory_of(s).hosts[0].ip = vec!["192.168.126.78".parse().unwrap()]
        }),
        ("a host's MAC", |s| inventory_of(s).hosts[1].mac = Some("52:54:00:00:00:01".into())),
        ("a host's interface", |s| inventory_of(s).hosts[1].interface = Some("ens3".into())),
        ("gateway", |s| inventory_of(s).network.gateway = vec!["192.168.126.2".parse().unwrap()]),
        ("dns", |s| inventory_of(s).network.dns = vec!["192.168.126.2".parse().unwrap()]),
        ("api VIP", |s| inventory_of(s).network.api_vip = vec!["192.168.126.12".parse().unwrap()]),
        ("short lifetime", |s| inventory_of(s).pki.short_lived_hours = 48),
        ("ignition server", |s| {
            inventory_of(s).ignition_server.url = ServerUrl::parse("https://install.example.com").ok()
        }),
        ("ignition server without TLS", |s| {
            inventory_of(s).ignition_server.url = ServerUrl::parse("http://192.168.126.1:80").ok()
        }),
        ("no ignition server", |s| inventory_of(s).ignition_server.url = None),
        ("provider", |s| inventory_of(s).machines.provider = inventory::Provider::Lab),
        ("release version", |s| s.release.version = "4.19.2".into()),
        ("release image", |s| s.release.image = "quay.io/other@sha256:00".into()),
        ("an image", |s| {
            let images: Vec<_> = s
                .release
                .images
                .iter()
                .map(|(n, i)| (n.to_owned(), i.replace("hardway-sample", "other")))
                .collect();
            s.release.images = images.into_iter().collect();
        }),
        ("feature gates", |s| {
            s.release.feature_gates.values_mut().for_each(|g| g.enabled.push("ZZZ".into()))
        }),
        ("an image policy", |s| s.release.image_policies.push(common::image_policy())),
        ("a CRD", |s| s.release.crds[0].text.push_str("# changed\n")),
        ("rendered config", |s| {
            s.release.rendered.values_mut().for_each(|r| r.machine_config["spec"]["fips"] = true.into())
        }),
        ("cluster id", |s| s.cluster.identity.cluster_id = "00000000-0000-4000-8000-000000000000".into()),
        ("infra id", |s| s.cluster.identity.infra_id = "ocp4-zzzzz".into()),
        ("created", |s| s.cluster.identity.created = "2026-11-16T00:00:00Z".parse().unwrap()),
        ("a renewal", |s| {
            let at = "2026-11-15T20:00:00Z".parse().unwrap();
            s.cluster.identity.renewed.insert("kubelet-signer".into(), at);
        }),
        ("a host's generation", |s| {
            let since = "2026-11-15T20:00:00Z".parse().unwrap();
            let generation = HostGeneration { number: 2, since, comes: Comes::WithConfig };
            s.cluster.identity.generations.insert("master-0".into(), generation);
        }),
        ("the key of a host's identity", |s| {
            let other = s.secrets.get("aggregator-client.key").unwrap().expose().to_vec();
            with_secrets(s, |n, b| if n == "host-identity-worker-0.key" { other.clone() } else { b });
        }),
        ("a stock pointer", |s| inventory_of(s).hosts[4].stock_pointer = true),
        ("a key", |s| {
            let other = s.secrets.get("aggregator-client.key").unwrap().expose().to_vec();
            with_secrets(s, |n, b| if n == "root-ca.key" { other.clone() } else { b });
        }),
        ("the key of tokens", |s| {
            with_secrets(s, |n, b| if n == TOKEN_KEY { b"other".to_vec() } else { b });
        }),
        ("the password", |s| {
            with_secrets(
                s,
                |n, b| if n.starts_with("kubeadmin") { [b.as_slice(), b"x"].concat() } else { b },
            );
        }),
    ]
}

/// Everything made from scratch must equal what an incremental run made: an asset with an unannounced input would keep
/// its old bytes.
#[test]
fn incremental_equals_from_scratch_for_every_input() {
    let start = base();
    let first = run(&start, &Tree::default(), &Lock::default());
    let tree = after(&first, &Tree::default());
    for (name, mutate) in mutations() {
        let mut state = base();
        mutate(&mut state);
        let incremental = after(&run(&state, &tree, &first.lock), &tree);
        let scratch = after(&run(&state, &Tree::default(), &Lock::default()), &Tree::default());
        let stale: Vec<&str> = scratch
            .iter()
            .filter(|(path, bytes)| incremental.get(path) != Some(*bytes))
            .map(|(path, _)| path)
            .chain(incremental.iter().map(|(path, _)| path).filter(|path| scratch.get(path).is_none()))
            .collect();
        assert!(stale.is_empty(), "{name} changed, but these kept their old content: {stale:?}");
    }
}

#[test]
fn every_mutation_changes_something() {
    let start = base();
    let first = run(&start, &Tree::default(), &Lock::default());
    let tree = after(&first, &Tree::default());
    for (name, mutate) in mutations() {
        let mut state = base();
        mutate(&mut state);
        let again = run(&state, &tree, &first.lock);
        let reasons = again.steps.iter().filter(|step| !step.reasons.is_empty()).count();
        // The provider and the VIPs are the machines' business: only the bootstrap host's config may mention them.
        assert!(reasons + again.removals.len() > 0, "{name} changed and nothing is stale");
        assert_eq!(again.steps.len(), again.lock.sources.len(), "{name}");
    }
}

#[test]
fn nothing_changed_nothing_written() {
    for scenario in common::SCENARIOS {
        let made = common::made(scenario);
        let state = State { cluster: made.cluster, release: made.release, secrets: made.secrets };
        let again = run(&state, &made.tree, &made.plan.lock);
        assert!(again.writes.is_empty() && again.removals.is_empty(), "{scenario}");
        assert_eq!(again.lock, made.plan.lock, "{scenario}");
        assert!(again.steps.iter().all(|step| step.reasons.is_empty()), "{scenario}");
    }
}

#[test]
fn a_hand_edited_manifest_is_kept_and_flows_downstream() {
    let made = make_checked(base().cluster.config, base().cluster.inventory, sample());
    let state = base();
    let mut tree = made.tree.clone();
    let path = "manifests/cluster-scheduler-02-config.yml";
    tree.insert(path, made.text(path).replace("mastersSchedulable: false", "mastersSchedulable: true"));
    tree.insert(
        "manifests/my-own.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n  namespace: default\n",
    );
    let again = run(&state, &tree, &made.plan.lock);
    let kept =
        again.steps.iter().flat_map(|s| &s.files).filter(|(_, state)| *state == FileState::EditedByHand);
    assert_eq!(kept.map(|(output, _)| output.path.as_str()).collect::<Vec<_>>(), [path]);
    let written: Vec<&str> = again.writes.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        written,
        ["bootstrap.ign", "ignition/pointers/bootstrap.ign"],
        "the edit reaches the bootstrap host and nothing else is made again"
    );
    let reasons: Vec<String> = again
        .steps
        .iter()
        .filter(|s| s.asset == "bootstrap-ignition")
        .flat_map(|s| &s.reasons)
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        reasons,
        ["manifests/cluster-scheduler-02-config.yml changed", "manifests/my-own.yaml was added"]
    );
    // Told once, then quiet: the second run after the edit has nothing to do.
    let tree = after(&again, &tree);
    let third = run(&state, &tree, &again.lock);
    assert!(third.writes.is_empty());
    assert_eq!(
        tree.get(path).unwrap(),
        made.text(path).replace("mastersSchedulable: false", "mastersSchedulable: true").as_bytes()
    );
}
