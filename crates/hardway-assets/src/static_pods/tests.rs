//! What the static pods of several clusters must say.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;
use crate::explain::{Catalogue, Kind};
use crate::graph::{Fingerprints, Inputs};
use crate::release_payload::{FeatureGates, ReleasePayload};
use crate::secrets::SecretBundle;
use crate::{Cluster, Tree, example, yaml};

/// A release with the images that bootstrap needs, by their real tag names.
fn release() -> ReleasePayload {
    let names =
        ["cluster-kube-apiserver-operator", "cluster-policy-controller", "etcd", "hyperkube", "kube-proxy"];
    let gates = FeatureGates {
        enabled: vec![
            "HardwareSpeed".into(),
            "ServiceAccountTokenNodeBinding".into(),
            "ValidatingAdmissionPolicy".into(),
        ],
        disabled: vec!["DynamicResourceAllocation".into(), "OpenShiftPodSecurityAdmission".into()],
    };
    ReleasePayload {
        image: "quay.io/r/release@sha256:00".to_owned(),
        version: "4.18.1".to_owned(),
        architecture: "amd64".to_owned(),
        is_sample: true,
        stand_ins: Vec::new(),
        real: String::new(),
        images: names
            .iter()
            .map(|name| ((*name).to_owned(), format!("quay.io/r/{name}@sha256:00")))
            .collect(),
        crds: Vec::new(),
        feature_gates: BTreeMap::from([(String::new(), gates)]),
        image_policies: Vec::new(),
        boot_images: None,
        rendered: BTreeMap::new(),
    }
}

/// Every file of the module for a cluster, as data, by name.
fn files(cluster: &Cluster) -> BTreeMap<String, Value> {
    files_of("4.18.1", cluster)
}

fn files_of(version: &str, cluster: &Cluster) -> BTreeMap<String, Value> {
    let release = ReleasePayload { version: version.to_owned(), ..release() };
    let (secrets, tree) = (SecretBundle::default(), Tree::default());
    let inputs = Inputs { cluster, release: &release, secrets: &secrets, tree: &tree };
    let read = |bytes: &Vec<u8>| yaml::read(std::str::from_utf8(bytes).unwrap()).unwrap().to_json();
    assets()
        .iter()
        .map(|asset| {
            let path = asset.outputs()[0].path.clone();
            let name = path.strip_prefix("static-pods/").unwrap().to_owned();
            (name, read(&asset.make(&inputs).unwrap()[0]))
        })
        .collect()
}

fn single_node_in_place() -> Cluster {
    let mut cluster = example::cluster();
    cluster.config.control_plane.replicas = 1;
    cluster.config.compute[0].replicas = 0;
    cluster.config.bootstrap_in_place =
        Some(crate::install_config::BootstrapInPlace { installation_disk: "/dev/sda".to_owned() });
    cluster.inventory.hosts.retain(|host| host.name == "master-0");
    cluster
}

fn ipv6() -> Cluster {
    let mut cluster = example::cluster();
    let networking = &mut cluster.config.networking;
    networking.service_network = vec!["fd02::/112".parse().unwrap()];
    networking.cluster_network[0].cidr = "fd01::/48".parse().unwrap();
    networking.machine_network[0].cidr = "fd00::/64".parse().unwrap();
    cluster.inventory.hosts[0].ip = vec!["fd00::64".parse().unwrap()];
    cluster
}

fn dual_stack() -> Cluster {
    let mut cluster = example::cluster();
    let networking = &mut cluster.config.networking;
    networking.service_network.push("fd02::/112".parse().unwrap());
    let mut second = networking.cluster_network[0].clone();
    second.cidr = "fd01::/48".parse().unwrap();
    networking.cluster_network.push(second);
    cluster
}

fn container<'a>(pod: &'a Value, name: &str) -> &'a Value {
    pod["spec"]["containers"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap()
}

fn args(pod: &Value, name: &str) -> Vec<String> {
    let args = container(pod, name)["args"].as_array().unwrap();
    args.iter().map(|arg| arg.as_str().unwrap().to_owned()).collect()
}

fn env<'a>(pod: &'a Value, container_name: &str, name: &str) -> Option<&'a str> {
    let env = container(pod, container_name)["env"].as_array().unwrap();
    env.iter().find(|variable| variable["name"] == name).and_then(|variable| variable["value"].as_str())
}

#[test]
fn the_etcd_member_is_the_one_the_operator_removes() {
    let pod = &files(&example::cluster())["etcd-member-pod.yaml"];
    assert_eq!(pod["metadata"]["name"], "etcd-bootstrap-member");
    assert_eq!(env(pod, "etcd", "ETCD_NAME"), Some("etcd-bootstrap"));
    assert_eq!(env(pod, "etcd", "ETCD_EXPERIMENTAL_MAX_LEARNERS"), Some("3"));
    assert_eq!(env(pod, "etcd", "ETCD_UNSUPPORTED_ARCH"), None);
    let args = args(pod, "etcd");
    for expected in [
        "--advertise-client-urls=https://192.168.126.100:2379",
        "--initial-advertise-peer-urls=https://192.168.126.100:2380",
        "--listen-client-urls=https://0.0.0.0:2379",
        "--listen-metrics-urls=https://0.0.0.0:9978",
        "--cert-file=/etc/ssl/etcd/etcd-all-certs/etcd-serving-bootstrap.ocp4.example.com.crt",
        "--peer-key-file=/etc/ssl/etcd/etcd-all-certs/etcd-peer-bootstrap.ocp4.example.com.key",
        "--trusted-ca-file=/etc/ssl/etcd/ca.crt",
    ] {
        assert!(args.iter().any(|arg| arg == expected), "{expected} is not in {args:?}");
    }
    assert!(!args.iter().any(|arg| arg.starts_with("--initial-cluster")), "one member starts by itself");
}

/// An etcd that does not know a flag or variable does not start.
#[test]
fn etcd_is_asked_in_the_words_of_its_release() {
    let said = |version| {
        let pod = &files_of(version, &example::cluster())["etcd-member-pod.yaml"];
        let args = args(pod, "etcd");
        let has = |arg: &str| args.iter().any(|other| other == arg);
        let ports = container(pod, "etcd")["ports"].as_array().unwrap().len();
        (
            has("--experimental-initial-corrupt-check=true"),
            has("--feature-gates=InitialCorruptCheck=true"),
            env(pod, "etcd", "ETCD_EXPERIMENTAL_MAX_LEARNERS").is_some(),
            env(pod, "etcd", "ETCD_MAX_LEARNERS").is_some(),
            has("--listen-client-http-urls=https://0.0.0.0:2381"),
            ports,
        )
    };
    assert_eq!(said("4.20.9"), (true, false, true, false, false, 2));
    assert_eq!(said("4.21.0"), (false, true, false, true, false, 2));
    assert_eq!(said("4.23.0"), (false, true, false, true, true, 3));
}

#[test]
fn the_control_plane_is_configured_as_its_release_does_it() {
    let said = |version| {
        let files = files_of(version, &dual_stack());
        let server = &files["kube-apiserver-config.yaml"];
        let manager = &files["kube-controller-manager-config.yaml"]["extendedArguments"];
        let has =
            |list: &Value, word: &str| list.as_array().is_some_and(|list| list.iter().any(|one| one == word));
        let arguments = &server["apiServerArguments"];
        (
            has(&manager["controllers"], "selinux-warning-controller"),
            has(&manager["cloud-provider"], "external"),
            has(&arguments["enable-admission-plugins"], "authorization.openshift.io/RestrictSubjectBindings"),
            has(&arguments["runtime-config"], "admissionregistration.k8s.io/v1beta1=true"),
            server["servingInfo"]["bindAddress"].as_str().unwrap().to_owned(),
            server["servingInfo"]["bindNetwork"].as_str().unwrap().to_owned(),
        )
    };
    let (four, both) =
        (("0.0.0.0:6443".to_owned(), "tcp4".to_owned()), ("[::]:6443".to_owned(), "tcp".to_owned()));
    let row =
        |a, b, c, d, (address, network): &(String, String)| (a, b, c, d, address.clone(), network.clone());
    assert_eq!(said("4.18.1"), row(false, true, true, true, &four));
    assert_eq!(said("4.19.0"), row(true, true, true, true, &four));
    assert_eq!(said("4.20.0"), row(true, true, false, false, &four));
    assert_eq!(said("4.21.0"), row(true, false, false, false, &four));
    assert_eq!(said("4.22.0"), row(true, false, false, false, &both));
}

#[test]
fn no_variable_of_etcd_is_also_a_flag() {
    let flags: BTreeSet<&str> = etcd::FLAGS.iter().map(|row| row.name).collect();
    for variable in etcd::ENVIRONMENT {
        let flag = variable.name.trim_start_matches("ETCD_").to_lowercase().replace('_', "-");
        assert!(!flags.contains(flag.as_str()), "{} shadows --{flag}", variable.name);
    }
}

#[test]
fn in_place_the_member_is_permanent() {
    let files = files(&single_node_in_place());
    let pod = &files["etcd-member-pod.yaml"];
    assert_eq!(pod["metadata"]["name"], "etcd-master-0.ocp4.example.com");
    assert_eq!(env(pod, "etcd", "ETCD_NAME"), Some("etcd-master-0.ocp4.example.com"));
    assert_eq!(env(pod, "etcd", "ETCD_EXPERIMENTAL_MAX_LEARNERS"), Some("1"));
    assert_eq!(files["kube-apiserver-pod.yaml"]["spec"]["terminationGracePeriodSeconds"], 15);
    let arguments = &files["kube-apiserver-config.yaml"]["apiServerArguments"];
    assert_eq!(arguments["shutdown-delay-duration"][0], "0s");
}

#[test]
fn ipv6_addresses_are_escaped_in_urls_only() {
    let files = files(&ipv6());
    let etcd = args(&files["etcd-member-pod.yaml"], "etcd");
    assert!(etcd.contains(&"--advertise-client-urls=https://[fd00::64]:2379".to_owned()));
    assert!(etcd.contains(&"--listen-peer-urls=https://[::]:2380".to_owned()));
    let server = args(&files["kube-apiserver-pod.yaml"], "kube-apiserver");
    assert!(server.contains(&"--advertise-address=fd00::64".to_owned()));
    let serving = &files["kube-apiserver-config.yaml"]["servingInfo"];
    assert_eq!((&serving["bindAddress"], &serving["bindNetwork"]), (&"[::]:6443".into(), &"tcp6".into()));
    let operator = &files["cluster-version-operator-pod.yaml"];
    assert_eq!(env(operator, "cluster-version-operator", "KUBERNETES_SERVICE_HOST"), Some("::1"));
}

#[test]
fn dual_stack_gives_both_networks() {
    let files = files(&dual_stack());
    let config = &files["kube-apiserver-config.yaml"];
    assert_eq!(config["servicesSubnet"], "172.30.0.0/16,fd02::/112");
    assert_eq!(config["servingInfo"]["bindNetwork"], "tcp4");
    let plugin = &config["admission"]["pluginConfig"]["network.openshift.io/RestrictedEndpointsAdmission"];
    let networks = plugin["configuration"]["restrictedCIDRs"].as_array().unwrap();
    assert_eq!(networks.len(), 4);
    let manager = args(&files["kube-controller-manager-pod.yaml"], "kube-controller-manager");
    assert!(manager.contains(&"--cluster-cidr=10.128.0.0/14,fd01::/48".to_owned()));
}

#[test]
fn the_api_server_reads_and_trusts_what_the_masters_will() {
    let config = &files(&example::cluster())["kube-apiserver-config.yaml"];
    let arguments = &config["apiServerArguments"];
    let secret = |name: &str| Value::from(format!("/etc/kubernetes/secrets/{name}"));
    assert_eq!(arguments["etcd-prefix"][0], "kubernetes.io", "another prefix is another, empty cluster");
    assert_eq!(arguments["client-ca-file"][0], secret("kube-apiserver-complete-client-ca-bundle.crt"));
    assert_eq!(arguments["proxy-client-cert-file"][0], secret("aggregator-client.crt"));
    assert_eq!(arguments["requestheader-client-ca-file"][0], secret("aggregator-signer.crt"));
    let keys = [secret("service-account.pub"), secret("bound-service-account-signing-key.pub")];
    assert_eq!(arguments["service-account-key-file"].as_array().unwrap(), &keys);
    let names = arguments["requestheader-allowed-names"].as_array().unwrap();
    assert!(names.contains(&"system:kube-apiserver-proxy".into()), "the name on aggregator-client");
    assert_eq!(arguments["enable-admission-plugins"].as_array().unwrap().len(), 45);
    assert_eq!(arguments["shutdown-delay-duration"][0], "70s");
    let gates = [
        "HardwareSpeed=true",
        "ServiceAccountTokenNodeBinding=true",
        "ValidatingAdmissionPolicy=true",
        "DynamicResourceAllocation=false",
        "OpenShiftPodSecurityAdmission=false",
    ];
    assert_eq!(arguments["feature-gates"], serde_json::json!(gates));
    assert_eq!(arguments["runtime-config"], serde_json::json!(["admissionregistration.k8s.io/v1beta1=true"]));
    assert_eq!(config["auditConfig"]["policyConfiguration"]["rules"].as_array().unwrap().len(), 4);
    let security = &config["admission"]["pluginConfig"]["PodSecurity"]["configuration"];
    assert_eq!(security["defaults"]["enforce"], "privileged");
}

#[test]
fn the_controller_manager_signs_with_what_is_seeded() {
    let files = files(&example::cluster());
    let pod = &files["kube-controller-manager-pod.yaml"];
    let manager = args(pod, "kube-controller-manager");
    for expected in [
        "--cluster-signing-cert-file=/etc/kubernetes/secrets/kubelet-signer.crt",
        "--root-ca-file=/etc/kubernetes/secrets/kube-apiserver-complete-server-ca-bundle.crt",
        "--service-account-private-key-file=/etc/kubernetes/secrets/service-account.key",
        "--allocate-node-cidrs=false",
        "--controllers=*",
        "--controllers=-ttl",
        "--pv-recycler-pod-template-filepath-nfs=",
    ] {
        assert!(manager.iter().any(|arg| arg == expected), "{expected} is not in {manager:?}");
    }
    assert_eq!(
        container(pod, "cluster-policy-controller")["image"],
        "quay.io/r/cluster-policy-controller@sha256:00"
    );
    let policy = &files["cluster-policy-controller-config.yaml"];
    assert_eq!(policy["featureGates"][0], "HardwareSpeed=true");
}

#[test]
fn the_version_operator_runs_the_release() {
    let pod = &files(&example::cluster())["cluster-version-operator-pod.yaml"];
    let args = args(pod, "cluster-version-operator");
    assert_eq!(args[..2], ["start", "--release-image=quay.io/r/release@sha256:00"]);
    assert!(args.contains(&"--listen=".to_owned()));
}

#[test]
fn mounts_and_volumes_agree() {
    let cluster = example::cluster();
    for (name, pod) in files(&cluster).iter().filter(|(name, _)| name.ends_with("-pod.yaml")) {
        let names = |list: &Value| -> BTreeSet<String> {
            list.as_array().into_iter().flatten().map(|v| v["name"].as_str().unwrap().to_owned()).collect()
        };
        let spec = &pod["spec"];
        let all = [&spec["containers"], &spec["initContainers"]];
        let containers = all.iter().flat_map(|list| list.as_array().into_iter().flatten());
        let mounted: BTreeSet<String> = containers.flat_map(|c| names(&c["volumeMounts"])).collect();
        assert_eq!(mounted, names(&spec["volumes"]), "{name}");
        assert_eq!(
            (&spec["hostNetwork"], &spec["restartPolicy"]),
            (&true.into(), &"Always".into()),
            "{name}"
        );
    }
}

#[test]
fn a_missing_feature_set_is_named() {
    let mut cluster = example::cluster();
    cluster.config.feature_set = "TechPreviewNoUpgrade".to_owned();
    let error = kube_apiserver::upstream_arguments(&cluster, &release()).unwrap_err();
    assert!(error.to_string().contains("TechPreviewNoUpgrade"), "{error}");
}

#[test]
fn upstream_gets_only_what_it_knows() {
    let line = kube_apiserver::upstream_arguments(&example::cluster(), &release()).unwrap();
    assert!(
        !line.iter().any(|arg| arg.contains("openshift.io") || arg.contains("openshift-config")),
        "{line:?}"
    );
    for expected in [
        "--authorization-mode=RBAC",
        "--authorization-mode=Node",
        "--feature-gates=ServiceAccountTokenNodeBinding=true",
        "--feature-gates=DynamicResourceAllocation=false",
        "--service-cluster-ip-range=172.30.0.0/16",
        "--bind-address=0.0.0.0",
        "--secure-port=6443",
        "--advertise-address=192.168.126.100",
        "--audit-policy-file=/etc/kubernetes/config/audit-policy.yaml",
        "--tls-sni-cert-key=/etc/kubernetes/secrets/kube-apiserver-localhost-server.crt,\
         /etc/kubernetes/secrets/kube-apiserver-localhost-server.key:localhost,127.0.0.1,::1",
        "--tls-sni-cert-key=/etc/kubernetes/secrets/kube-apiserver-lb-server.crt,\
         /etc/kubernetes/secrets/kube-apiserver-lb-server.key",
    ] {
        assert!(line.iter().any(|arg| arg == expected), "{expected} is not in {line:?}");
    }
    assert!(!line.iter().any(|arg| arg.contains("HardwareSpeed") || arg.ends_with("=Scope")));
    let manager = kube_controller_manager::upstream_arguments(&example::cluster(), &release()).unwrap();
    assert!(manager.contains(&"--kubeconfig=/etc/kubernetes/secrets/kubeconfig".to_owned()));
    assert!(!manager.iter().any(|arg| arg.starts_with("--openshift-config")));
}

#[test]
fn upstream_paths_can_be_moved() {
    let cluster = example::cluster();
    let config = yaml::write(&kube_apiserver_config::document(&argument::Facts::new(&cluster)));
    let replace = upstream::Replace::from([
        ("/etc/kubernetes/secrets".to_owned(), "/tmp/s".to_owned()),
        ("/etc/kubernetes/config".to_owned(), "/tmp/c".to_owned()),
    ]);
    let moved = upstream::kube_apiserver(&config, &replace).unwrap();
    assert!(!moved.arguments.iter().any(|arg| arg.contains("/etc/kubernetes/")), "{:?}", moved.arguments);
    let paths: Vec<&str> = moved.files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/tmp/c/audit-policy.yaml", "/tmp/c/admission-config.yaml"]);
    assert!(moved.files[1].1.contains("PodSecurityConfiguration"));
    assert!(!moved.files[1].1.contains("ExternalIPRanger"));
}

/// Changes of the input that reach one file or another.
const CHANGES: [fn(&mut Cluster); 11] = [
    |cluster| cluster.config.base_domain = "other.org".to_owned(),
    |cluster| cluster.config.metadata.name = "other".to_owned(),
    |cluster| cluster.config.control_plane.replicas = 1,
    |cluster| cluster.config.control_plane.architecture = "arm64".to_owned(),
    |cluster| cluster.config.compute[0].replicas = 7,
    |cluster| {
        cluster.config.feature_set = "CustomNoUpgrade".to_owned();
        cluster.config.feature_gates = vec!["HardwareSpeed=false".to_owned()];
    },
    |cluster| cluster.config.networking.machine_network[0].cidr = "192.168.0.0/16".parse().unwrap(),
    |cluster| cluster.inventory.hosts[0].ip = vec!["192.168.126.99".parse().unwrap()],
    |cluster| cluster.inventory.network.api_vip.clear(),
    |cluster| *cluster = ipv6(),
    |cluster| *cluster = single_node_in_place(),
];

#[test]
fn files_change_only_when_a_declared_source_does() {
    let (before, release) = (example::cluster(), release());
    let (secrets, tree) = (SecretBundle::default(), Tree::default());
    let inputs = Inputs { cluster: &before, release: &release, secrets: &secrets, tree: &tree };
    let mut changed = BTreeSet::new();
    for change in CHANGES {
        let mut after = before.clone();
        change(&mut after);
        let new_inputs = Inputs { cluster: &after, ..inputs };
        let (old, new) = (Fingerprints::new(inputs), Fingerprints::new(new_inputs));
        for asset in assets() {
            let same = asset.sources().iter().all(|source| old.of(source, &tree) == new.of(source, &tree));
            let content = |inputs| asset.make(inputs).unwrap();
            if content(&inputs) != content(&new_inputs) {
                assert!(!same, "{} changed, its sources did not", asset.id());
                changed.insert(asset.id());
            }
        }
    }
    assert_eq!(changed.len(), 7, "all but the scheduler's pod depend on the cluster: {changed:?}");
}

#[test]
fn every_argument_is_explained_and_nothing_else_is() {
    let catalogue = Catalogue::of_assets();
    let explained: BTreeSet<String> =
        catalogue.iter().filter(|e| e.kind == Kind::Flag).map(|e| e.name.to_owned()).collect();
    let arguments = arguments();
    let names: BTreeSet<String> = arguments.iter().map(|(who, name)| format!("{who} {name}")).collect();
    assert_eq!(names.len(), arguments.len(), "an argument is listed twice");
    assert_eq!(explained, names);
}

/// What is left out is really not there, and each has its reason.
#[test]
fn what_guides_have_and_hardway_has_not_is_explained() {
    let catalogue = Catalogue::of_assets();
    let left_out: Vec<&str> = catalogue.iter().filter(|e| e.kind == Kind::LeftOut).map(|e| e.name).collect();
    for name in [
        "etcd --quota-backend-bytes",
        "etcd livenessProbe",
        "kube-apiserver --enable-bootstrap-token-auth",
        "kube-scheduler --leader-elect-retry-period",
    ] {
        assert!(left_out.contains(&name), "{name}");
    }
    let made: BTreeSet<String> = arguments().into_iter().map(|(who, name)| format!("{who} {name}")).collect();
    for name in &left_out {
        assert!(!made.contains(*name), "{name} is generated");
    }
    let etcd = &files(&example::cluster())["etcd-member-pod.yaml"];
    assert!(container(etcd, "etcd")["livenessProbe"].is_null());
}

#[test]
fn every_file_is_explained_and_nothing_else_is() {
    let cluster = example::cluster();
    let made: BTreeSet<String> = files(&cluster).keys().map(|name| format!("static-pods/{name}")).collect();
    let catalogue = Catalogue::of_assets();
    let outputs = catalogue.iter().filter(|e| e.kind == Kind::WorkFile && e.name.starts_with("static-pods/"));
    assert_eq!(outputs.map(|e| e.name.to_owned()).collect::<BTreeSet<_>>(), made);
}

#[test]
fn explanations_are_complete() {
    for e in Catalogue::of_assets()
        .iter()
        .filter(|e| matches!(e.kind, Kind::Flag | Kind::LeftOut | Kind::WorkFile))
    {
        for text in [e.what, e.why, e.readers, e.without, e.source] {
            assert!(!text.is_empty(), "{} is not explained in full", e.name);
        }
    }
}

#[test]
fn what_is_generated_is_listed() {
    let mut cluster = single_node_in_place();
    cluster.config.control_plane.architecture = "arm64".to_owned();
    let listed: BTreeSet<String> =
        arguments().into_iter().map(|(who, name)| format!("{who} {name}")).collect();
    for pod in files(&cluster).values() {
        for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
            let who = container["name"].as_str().unwrap();
            let flags = container["args"].as_array().into_iter().flatten().map(|arg| arg.as_str().unwrap());
            let flags = flags.filter_map(|arg| arg.split('=').next()).filter(|name| name.starts_with("--"));
            let env = container["env"].as_array().into_iter().flatten().map(|v| v["name"].as_str().unwrap());
            for name in flags.chain(env) {
                assert!(listed.contains(&format!("{who} {name}")), "{who} {name} is not listed");
            }
        }
    }
}

#[test]
fn a_gate_is_on_however_go_spells_it() {
    let mut cluster = example::cluster();
    cluster.config.feature_set = "CustomNoUpgrade".to_owned();
    cluster.config.feature_gates = vec!["Unheard=T".to_owned()];
    for file in ["kube-apiserver-config.yaml", "kube-controller-manager-config.yaml"] {
        let text = yaml::write(&files(&cluster)[file]);
        assert!(text.contains("Unheard=true"), "{file}: {text}");
    }
}
