//! Images of a release, by the names that `release info` and `check images` print: what is in each, and where it runs on machines
//! that people own.
//!
//! As of OpenShift 4.18. A release may have images that are not in this table, and may run one elsewhere.

/// What an image is, and where it runs.
pub(super) struct Component {
    pub(super) what: String,
    pub(super) runs: String,
}

/// What is known under that name.
pub(super) fn find(name: &str) -> Option<Component> {
    let row = ROWS.iter().find(|(other, ..)| *other == name);
    let row = row.map(|(_, what, runs)| Component { what: (*what).to_owned(), runs: (*runs).to_owned() });
    row.or_else(|| of_cloud(name))
}

/// Parts that exist once per cloud are called after it.
fn of_cloud(name: &str) -> Option<Component> {
    let is_of = |cloud: &str| {
        let rest = name.strip_prefix(cloud);
        rest.is_some_and(|rest| rest.starts_with('-'))
    };
    let (cloud, full) = CLOUDS.iter().find(|(cloud, _)| is_of(cloud))?;
    let rest = name.strip_prefix(cloud).unwrap_or(name);
    let (_, what) = PARTS.iter().find(|(part, _)| rest.contains(part))?;
    let runs = "nowhere on platform none: the operators start it on its own platform only";
    Some(Component { what: format!("{what} for {full}."), runs: runs.to_owned() })
}

const CLOUDS: [(&str, &str); 12] = [
    ("aws", "Amazon Web Services"),
    ("azure", "Microsoft Azure"),
    ("baremetal", "bare metal that Metal3 manages"),
    ("gcp", "Google Cloud"),
    ("ibmcloud", "IBM Cloud"),
    ("ibm", "IBM Cloud"),
    ("kubevirt", "KubeVirt"),
    ("libvirt", "libvirt, in development clusters"),
    ("nutanix", "Nutanix"),
    ("openstack", "OpenStack"),
    ("powervs", "IBM Power Virtual Server"),
    ("vsphere", "VMware vSphere"),
];

/// By what the rest of the name has in it, the longest first.
const PARTS: [(&str, &str); 12] = [
    ("cloud-controller-manager", "The cloud controller manager: nodes' addresses, zones and load balancers"),
    ("cloud-node-manager", "The part of the cloud controller manager that runs on each node,"),
    ("cluster-api-controllers", "The Cluster API provider, which makes machines"),
    ("csi-driver-operator", "The operator that installs the storage driver"),
    ("csi-driver-syncer", "The part of the storage driver that tells the platform about volumes,"),
    ("csi-driver", "The storage driver (CSI): volumes that pods can claim,"),
    ("kms-encryption-provider", "Encryption of Secrets with the key management service, in hosted clusters,"),
    ("machine", "The machine-api provider, which makes and deletes machines"),
    ("identity", "The webhook that gives pods credentials of their own"),
    ("service-operator", "The operator that makes cloud resources from Kubernetes objects"),
    ("problem-detector", "Checks of the platform's settings, permissions and versions"),
    ("cinder", "Storage"),
];

const MASTERS: &str = "a Deployment on the masters";
const EVERY_NODE: &str = "a DaemonSet on every node";
const STATIC: &str = "a static pod on every master, and on the bootstrap host until the pivot";
const MONITORING: &str = "openshift-monitoring, on any node unless it is configured otherwise";
const NOWHERE: &str = "nowhere on platform none";
const METAL3: &str = "nowhere on platform none: only with platform baremetal, where Metal3 installs machines";
const AGENT: &str = "nowhere here: openshift-install's agent-based installer boots it";
const LAYERS: &str = "nowhere by itself: other images begin with it, or files are copied out of it";
const MICROSHIFT: &str = "nowhere: MicroShift uses it";
const CSI_SIDE: &str = "beside a storage driver; nowhere until one is installed";

#[rustfmt::skip]
const ROWS: &[(&str, &str, &str)] = &[
    ("agent-installer-api-server", "The assisted-service of the agent-based installer.", AGENT),
    ("agent-installer-csr-approver", "Approves certificate requests during an agent-based install.", AGENT),
    ("agent-installer-node-agent", "The agent that describes a host to the assisted-service.", AGENT),
    ("agent-installer-orchestrator", "The assisted-installer that writes the disk and restarts the host.", AGENT),
    ("agent-installer-utils", "Helpers of the agent-based installer.", AGENT),
    ("apiserver-network-proxy", "Konnectivity: the way from a hosted control plane to its nodes.", "in hosted clusters: beside the control plane, and an agent on every node"),
    ("baremetal-installer", "openshift-install with support for libvirt, for platform baremetal.", NOWHERE),
    ("baremetal-operator", "Metal3's operator: boots machines through their management controllers.", METAL3),
    ("baremetal-runtimecfg", "Writes the configuration of keepalived, HAProxy and CoreDNS on nodes of platforms with their own load balancing; also used by nodeip-configuration.service to choose a node's address.", "on every node, once at boot, for nodeip-configuration.service"),
    ("cli", "`oc` and `kubectl`, with a shell.", "in pods that run commands, such as `oc debug` and `hardway verify`"),
    ("cli-artifacts", "`oc` for every operating system, for people to download.", "openshift-console's downloads, on the masters"),
    ("cloud-credential-operator", "Gives operators credentials of the cloud that they ask for with CredentialsRequests; rendered once at bootstrap.", MASTERS),
    ("cloud-network-config-controller", "Assigns egress addresses to the network cards of a cloud's machines.", NOWHERE),
    ("cluster-authentication-operator", "Runs login: oauth-server and oauth-apiserver.", MASTERS),
    ("cluster-autoscaler", "Adds and removes machines of MachineSets as pods need them.", "nowhere until a ClusterAutoscaler is created; it needs a machine-api provider"),
    ("cluster-autoscaler-operator", "Runs cluster-autoscaler for those who ask for one.", MASTERS),
    ("cluster-baremetal-operator", "Runs Metal3.", "a Deployment on the masters, idle on platform none"),
    ("cluster-bootstrap", "Creates the manifests on the bootstrap host's API server, and waits for the pods that make a control plane.", "the bootstrap host, started by bootkube.service"),
    ("cluster-capi-controllers", "Cluster API's own controllers.", NOWHERE),
    ("cluster-capi-operator", "Installs Cluster API, a technology preview.", NOWHERE),
    ("cluster-cloud-controller-manager-operator", "Runs the cloud controller manager of the platform.", "a Deployment on the masters, idle on platform none"),
    ("cluster-config-api", "The CRDs of config.openshift.io, and the feature gates that they follow from.", "the bootstrap host, which renders them"),
    ("cluster-config-operator", "Keeps the cluster's own configuration objects (infrastructures, networks, featuregates).", MASTERS),
    ("cluster-control-plane-machine-set-operator", "Replaces masters' machines.", "a Deployment on the masters, idle on platform none"),
    ("cluster-csi-snapshot-controller-operator", "Runs csi-snapshot-controller.", MASTERS),
    ("cluster-dns-operator", "Runs the cluster's DNS: CoreDNS on every node.", MASTERS),
    ("cluster-etcd-operator", "Runs etcd on the masters: members, certificates, defragmentation, and the move from the bootstrap host.", MASTERS),
    ("cluster-image-registry-operator", "Runs the built-in image registry.", "a Deployment on the masters; the registry itself is removed on platform none until somebody gives it storage"),
    ("cluster-ingress-operator", "Runs the routers (HAProxy) that *.apps leads to.", MASTERS),
    ("cluster-kube-apiserver-operator", "Runs kube-apiserver on the masters, and renews its certificates.", MASTERS),
    ("cluster-kube-cluster-api-operator", "The former operator for Cluster API.", NOWHERE),
    ("cluster-kube-controller-manager-operator", "Runs kube-controller-manager on the masters.", MASTERS),
    ("cluster-kube-scheduler-operator", "Runs kube-scheduler on the masters.", MASTERS),
    ("cluster-kube-storage-version-migrator-operator", "Runs the migration of stored objects to newer versions.", MASTERS),
    ("cluster-machine-approver", "Approves certificate requests of nodes whose machines are Machine objects. There are none on platform none, so `hardway approve` does it.", MASTERS),
    ("cluster-monitoring-operator", "Runs Prometheus, Alertmanager and what they watch.", MASTERS),
    ("cluster-network-operator", "Runs the cluster's network: OVN-Kubernetes, Multus and what belongs to them.", "a Deployment on the masters, on the host's network"),
    ("cluster-node-tuning-operator", "Sets kernel parameters of nodes with TuneD; its image is also what runs on each node.", "a Deployment on the masters, and a DaemonSet on every node"),
    ("cluster-olm-operator", "Runs the next generation of OLM.", MASTERS),
    ("cluster-openshift-apiserver-operator", "Runs openshift-apiserver.", MASTERS),
    ("cluster-openshift-controller-manager-operator", "Runs openshift-controller-manager and route-controller-manager.", MASTERS),
    ("cluster-policy-controller", "Gives namespaces their ranges of user IDs and SELinux labels, and enforces quotas.", "in kube-controller-manager's static pod on every master"),
    ("cluster-samples-operator", "Imports image streams and templates as examples.", MASTERS),
    ("cluster-storage-operator", "Runs the storage driver of the platform, and the default StorageClass.", "a Deployment on the masters; there is no driver to run on platform none"),
    ("cluster-update-keys", "The public keys that releases are signed with, as a ConfigMap.", LAYERS),
    ("cluster-version-operator", "Creates and keeps everything in the release: the one operator that runs all others, and updates.", "the bootstrap host, then a Deployment on the masters"),
    ("configmap-reloader", "Reloads a server when its configuration has changed.", LAYERS),
    ("console", "The web console.", MASTERS),
    ("console-operator", "Runs the web console.", MASTERS),
    ("container-networking-plugins", "The basic CNI plug-ins, copied to every node.", EVERY_NODE),
    ("containernetworking-plugins-microshift", "CNI plug-ins for MicroShift.", MICROSHIFT),
    ("coredns", "The name server of pods and Services.", "a DaemonSet on every node, in openshift-dns"),
    ("csi-driver-manila", "The storage driver for OpenStack's shared file systems.", NOWHERE),
    ("csi-driver-manila-operator", "The operator that installs that driver.", NOWHERE),
    ("csi-driver-nfs", "A storage driver for NFS, which Manila uses.", NOWHERE),
    ("csi-external-attacher", "Attaches volumes to nodes for a storage driver.", CSI_SIDE),
    ("csi-external-provisioner", "Makes volumes for claims.", CSI_SIDE),
    ("csi-external-resizer", "Enlarges volumes.", CSI_SIDE),
    ("csi-external-snapshotter", "Makes snapshots of volumes.", CSI_SIDE),
    ("csi-livenessprobe", "Checks that a storage driver answers.", CSI_SIDE),
    ("csi-node-driver-registrar", "Announces a storage driver to the kubelet.", CSI_SIDE),
    ("csi-snapshot-controller", "Makes VolumeSnapshots of claims, with any driver that can.", MASTERS),
    ("csi-snapshot-validation-webhook", "Checks VolumeSnapshots when they are created.", MASTERS),
    ("deployer", "Rolls out DeploymentConfigs.", "in a pod of its own for each rollout"),
    ("docker-builder", "Builds images for Builds and BuildConfigs.", "in a pod of its own for each build"),
    ("docker-registry", "The built-in image registry.", "a Deployment in openshift-image-registry, once it has storage"),
    ("driver-toolkit", "Kernel headers and compilers of the release's CoreOS, to build kernel modules.", LAYERS),
    ("egress-router-cni", "A CNI plug-in for pods that leave the cluster from an address of their own.", EVERY_NODE),
    ("etcd", "The database of the cluster.", STATIC),
    ("haproxy-router", "The router behind *.apps: HAProxy with its controller.", "a Deployment in openshift-ingress: on workers, or on masters where they take pods"),
    ("hyperkube", "kube-apiserver, kube-controller-manager, kube-scheduler and kubelet in one image.", STATIC),
    ("hypershift", "The operator of hosted control planes, and what runs in them.", "on management clusters of hosted clusters"),
    ("insights-operator", "Sends facts about the cluster's health to Red Hat, where the pull secret allows it.", MASTERS),
    ("insights-runtime-exporter", "Tells the insights-operator what runs in containers.", EVERY_NODE),
    ("insights-runtime-extractor", "Finds out what runs in containers.", EVERY_NODE),
    ("installer", "openshift-install.", NOWHERE),
    ("installer-altinfra", "openshift-install built without Terraform.", NOWHERE),
    ("installer-artifacts", "openshift-install for every operating system, for `oc adm release extract`.", LAYERS),
    ("ironic", "The service with which Metal3 boots and cleans machines.", METAL3),
    ("ironic-agent", "What machines boot while Ironic inspects them.", METAL3),
    ("ironic-machine-os-downloader", "Gets the image that Ironic installs.", METAL3),
    ("ironic-static-ip-manager", "Holds the address of Ironic's network.", METAL3),
    ("keepalived-ipfailover", "Moves a virtual address between nodes (VRRP).", "on platforms with their own load balancing; on platform none only where somebody creates an ipfailover"),
    ("kube-metrics-server", "Serves the resource metrics that `oc adm top` and autoscalers read.", MONITORING),
    ("kube-proxy", "kube-proxy, for networks that do not replace it.", "a DaemonSet on every node, only with such a network"),
    ("kube-rbac-proxy", "Stands in front of a metrics port and asks the API who may read it.", "beside many operators, and in pods of every node"),
    ("kube-state-metrics", "Metrics about Kubernetes objects.", MONITORING),
    ("kube-storage-version-migrator", "Rewrites stored objects in newer versions.", MASTERS),
    ("machine-api-operator", "Runs the machine-api provider of the platform.", "a Deployment on the masters, idle on platform none"),
    ("machine-config-operator", "Renders MachineConfigs, serves new nodes their Ignition config (port 22623), and keeps nodes' files and system as configured.", "the bootstrap host; then a Deployment, the server on the masters and a daemon on every node"),
    ("machine-image-customization-controller", "Puts network settings into the image that Ironic boots.", METAL3),
    ("machine-os-images", "The live ISO and network boot files of the release's CoreOS.", LAYERS),
    ("metallb-frr", "FRR, a routing daemon: BGP for OVN-Kubernetes and MetalLB.", "a DaemonSet on every node, only where routing is asked for"),
    ("monitoring-plugin", "The console's pages about metrics and alerts.", MONITORING),
    ("multus-admission-controller", "Checks network attachments when they are created.", MASTERS),
    ("multus-cni", "Multus: lets pods have more than one network; calls the cluster's own.", EVERY_NODE),
    ("multus-cni-microshift", "Multus for MicroShift.", MICROSHIFT),
    ("multus-networkpolicy", "Network policies on additional networks.", "a DaemonSet on every node, only where it is asked for"),
    ("multus-route-override-cni", "A CNI plug-in that changes routes of additional networks.", EVERY_NODE),
    ("multus-whereabouts-ipam-cni", "Gives addresses on additional networks.", EVERY_NODE),
    ("must-gather", "What `oc adm must-gather` runs to collect logs and objects.", "in pods of their own, when asked for"),
    ("network-interface-bond-cni", "A CNI plug-in for bonds inside pods.", EVERY_NODE),
    ("network-metrics-daemon", "Metrics about pods' additional networks.", EVERY_NODE),
    ("network-tools", "Programs to look into a cluster's network.", "in pods of their own, when asked for"),
    ("networking-console-plugin", "The console's pages about networks.", MASTERS),
    ("oauth-apiserver", "Serves the API groups of users, groups and tokens.", MASTERS),
    ("oauth-proxy", "Stands in front of a web page and asks for a login of the cluster.", "beside pages of monitoring and others"),
    ("oauth-server", "Where people log in.", MASTERS),
    ("oc-mirror", "The oc-mirror program, for people to download.", LAYERS),
    ("olm-catalogd", "Serves catalogs to the next generation of OLM.", MASTERS),
    ("olm-operator-controller", "Installs extensions: the next generation of OLM.", MASTERS),
    ("openshift-apiserver", "Serves OpenShift's own API groups: projects, routes, builds, image streams.", MASTERS),
    ("openshift-controller-manager", "Controllers of builds, image streams and DeploymentConfigs.", MASTERS),
    ("openshift-state-metrics", "Metrics about OpenShift's own objects.", MONITORING),
    ("operator-framework-tools", "Programs for those who make operators.", LAYERS),
    ("operator-lifecycle-manager", "OLM: installs and updates operators from catalogs.", MASTERS),
    ("operator-marketplace", "Runs the catalogs of operators.", MASTERS),
    ("operator-registry", "Serves a catalog of operators, and unpacks bundles.", "a pod for each catalog, in openshift-marketplace"),
    ("ovirt-csi-driver", "The storage driver for oVirt, which OpenShift no longer supports.", NOWHERE),
    ("ovirt-csi-driver-operator", "The operator that installed that driver.", NOWHERE),
    ("ovn-kubernetes", "The cluster's network: OVN, Open vSwitch's controllers and the CNI plug-in.", "a DaemonSet on every node, and a Deployment on the masters"),
    ("ovn-kubernetes-microshift", "OVN-Kubernetes for MicroShift.", MICROSHIFT),
    ("pod", "The pause container that holds a pod's namespaces.", "in every pod of every node"),
    ("prom-label-proxy", "Restricts queries of metrics to namespaces that a person may see.", MONITORING),
    ("prometheus", "Collects and keeps metrics.", MONITORING),
    ("prometheus-alertmanager", "Sends alerts.", MONITORING),
    ("prometheus-config-reloader", "Reloads Prometheus when its configuration has changed.", MONITORING),
    ("prometheus-node-exporter", "Metrics about machines.", EVERY_NODE),
    ("prometheus-operator", "Runs Prometheus and Alertmanager.", MONITORING),
    ("prometheus-operator-admission-webhook", "Checks alerting rules when they are created.", MONITORING),
    ("rhel-coreos", "The operating system of nodes, as a container image that rpm-ostree boots: nodes are brought to it on their first boot and with every update.", "on every node: it is the system itself"),
    ("rhel-coreos-extensions", "Additional packages for the nodes' system.", LAYERS),
    ("route-controller-manager", "Controllers of Routes and Ingresses.", MASTERS),
    ("service-ca-operator", "Signs serving certificates for Services that ask for one.", MASTERS),
    ("stream-coreos", "The operating system of nodes in OKD, as a container image that rpm-ostree boots.", "on every node: it is the system itself"),
    ("stream-coreos-extensions", "Additional packages for the nodes' system in OKD.", LAYERS),
    ("telemeter", "Sends selected metrics to Red Hat, where the pull secret allows it.", MONITORING),
    ("tests", "OpenShift's own end-to-end tests.", NOWHERE),
    ("thanos", "Answers queries across several Prometheus servers.", MONITORING),
    ("tools", "`oc` and programs to look into a node; what `oc debug node/NAME` runs.", "in pods of their own, when asked for"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_name_a_sentence_and_a_place() {
        let mut names: Vec<&str> = ROWS.iter().map(|(name, ..)| *name).collect();
        assert!(names.is_sorted(), "in order, so that the next one finds its place");
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
        for (name, what, runs) in ROWS {
            assert!(what.ends_with('.') && !runs.ends_with('.') && !runs.is_empty(), "{name}");
        }
    }

    #[test]
    fn parts_of_clouds_are_known_by_their_names() {
        let what = |name: &str| find(name).map(|found| found.what).unwrap_or_default();
        assert!(
            what("aws-ebs-csi-driver-operator")
                .starts_with("The operator that installs the storage driver for Amazon")
        );
        assert!(what("vsphere-csi-driver").contains("volumes that pods can claim"));
        assert!(what("openstack-machine-api-provider").starts_with("The machine-api provider"));
        assert!(find("aws").is_none() && find("no-such-image").is_none() && find("gcpx-machine").is_none());
    }
}
