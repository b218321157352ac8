//! Why hardway differs where it does so on purpose: the table.
//!
//! A row must be no wider than its sentence: what a row matches is taken to be right for ever.

use super::reason::DiffReason;
use super::reason::Side::{self, Both, Ours, Theirs};

/// All reasons; the first row that fits counts.
#[rustfmt::skip]
pub(super) const REASONS: &[DiffReason] = &[
    // The working directory.
    row("Ignition configs", Ours, THEY_STOP_EARLIER),
    row("Ignition configs", Theirs, WE_STOP_EARLIER),
    row("manifests/", Ours, EATEN_MANIFESTS),
    row("openshift/", Ours, EATEN_MANIFESTS),
    row(".openshift_install.log", Theirs, PLAIN_FILES),
    row(".openshift_install_state.json", Theirs, PLAIN_FILES),
    row("auth/known_hosts", Ours, HOST_KEYS),
    row("ignition/", Ours, COMPLETE_CONFIGS),
    row("kubeconfigs/", Ours, PLAIN_FILES),
    row("master.ign", Ours, MASTER_POINTER),
    row("operator-seeds/", Ours, SEEDS),
    row("pki/", Ours, PLAIN_FILES),
    row("static-pods/", Ours, PLAIN_FILES),

    // Objects.
    row("ClusterVersion openshift-cluster-version/version: spec.overrides[MachineConfig *]", Ours, OVERRIDES),
    row("ClusterVersion openshift-cluster-version/version: spec.overrides[Secret openshift-machine-api *-user-data]", Ours, OVERRIDES),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: metadata.annotations.install.openshift.io/hostcrypt-check-bypassed", Theirs, BYPASSED),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: kind", Theirs, NOBODY_READS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: metadata.annotations*", Theirs, NOBODY_READS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: metadata.labels*", Theirs, NOBODY_READS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: metadata.namespace", Theirs, NOBODY_READS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: networking.clusterNetwork[*].hostSubnetLength", Theirs, OLD_FIELDS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: networking.clusterNetworks", Theirs, OLD_FIELDS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: networking.machineCIDR", Theirs, OLD_FIELDS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: networking.serviceCIDR", Theirs, OLD_FIELDS),
    row("ConfigMap kube-system/cluster-config-v1: data.install-config: networking.type", Theirs, OLD_FIELDS),
    row("ConfigMap kube-system/cluster-config-v1: metadata.annotations.kubernetes.io/description", Both, OUR_WORDS),
    row("ConfigMap openshift-config/openshift-install-manifests: data.invoker", Both, WHO_MADE_IT),
    row("ConfigMap openshift-config/openshift-install-manifests: data.version", Both, WHO_MADE_IT),
    row("FeatureGate cluster: metadata.annotations.include.release.openshift.io/self-managed-high-availability", Ours, GATES),
    row("FeatureGate cluster: status.featureGates", Ours, GATES),
    row("MachineConfig *: spec.fips", Theirs, WRITTEN_OUT),
    row("Network.operator.openshift.io cluster: spec.disableNetworkDiagnostics", Theirs, WRITTEN_OUT),
    row("Network.operator.openshift.io cluster: status.readyReplicas", Theirs, WRITTEN_OUT),
    row("Secret *: mode", Both, SECRET_MODE),
    row("Secret openshift-config/support", Ours, NO_SUBSCRIPTION),

    // Certificates and keys.
    row("bundle etcd-ca-bundle", Ours, ETCD),
    row("certificate etcd-client", Ours, ETCD),
    row("private key bound-service-account-signing-key", Ours, BOUND_KEY),
    row("private key etcd-client", Ours, ETCD),
    row("public key bound-service-account-signing-key", Ours, BOUND_KEY),

    // Files of the bootstrap host.
    row("*.ign /etc/NetworkManager/**", Ours, ADDRESSES),
    row("*.ign /etc/hostname", Ours, ADDRESSES),
    row("*.ign /etc/ignition-machine-config-encapsulated.json: apiVersion", Ours, ENCAPSULATED),
    row("*.ign /etc/ignition-machine-config-encapsulated.json: kind", Ours, ENCAPSULATED),
    row("*.ign /etc/ignition-machine-config-encapsulated.json: spec.config: ignition: version", Both, ENCAPSULATED),
    row("*.ign /etc/kubernetes/bootstrap-configs/*", Ours, CONTROL_PLANE),
    row("*.ign /etc/kubernetes/static-pod-resources/etcd-member/**", Ours, ETCD),
    row("*.ign /etc/motd", Both, OUR_WORDS),
    row("*.ign /etc/profile.d/proxy.sh", Ours, PROXY_NAMES),
    row("*.ign /etc/systemd/system-generators/node-image-overlay-generator", Ours, NODE_IMAGE),
    row("*.ign /etc/systemd/system.conf.d/10-default-env.conf", Ours, PROXY_NAMES),
    row("*.ign /etc/ssh/ssh_host_ecdsa_key*", Ours, HOST_KEYS),
    row("*.ign /opt/openshift/bootstrap-in-place/bootkube.service", Ours, IN_PLACE),
    row("*.ign /opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh", Both, SCRIPTS),
    row("*.ign /opt/openshift/bootstrap-in-place/master-update.fcc", Theirs, IN_PLACE),
    row("*.ign /opt/openshift/bootstrap-manifests/*", Ours, CONTROL_PLANE),
    row("*.ign /var/lib/kubelet/config.json", Ours, KUBELET_PULL_SECRET),
    row("*.ign /opt/openshift/bootstrap.env", Ours, SCRIPT_VALUES),
    row("*.ign /opt/openshift/crds/*", Ours, CRDS),
    row("*.ign /opt/openshift/etcd-member-pod.yaml", Ours, CONTROL_PLANE),
    row("*.ign /opt/openshift/image-policies/*", Ours, IMAGE_POLICIES),
    row("*.ign /opt/openshift/image-references", Ours, REFERENCES),
    row("*.ign /opt/openshift/node.ign", Ours, IN_PLACE),
    row("*.ign /opt/openshift/operator-seeds/*", Ours, SEEDS),
    row("*.ign /usr/local/bin/*", Both, SCRIPTS),
    row("*.ign /usr/local/bin/approve-csr.sh", Theirs, APPROVAL),
    row("*.ign /usr/local/bin/bootstrap-common.sh", Ours, SCRIPTS),
    row("*.ign /usr/local/bin/bootstrap-pivot.sh", Theirs, PIVOT),
    row("*.ign /usr/local/bin/create-manifests.sh", Ours, CREATION),
    row("*.ign /usr/local/bin/make-master-ignition.sh", Ours, IN_PLACE),
    row("*.ign /usr/local/bin/node-image-*.sh", Ours, NODE_IMAGE),
    row("*.ign /usr/local/bin/oc-or-container.sh", Ours, SCRIPTS),
    row("*.ign unit approve-csr.service", Theirs, APPROVAL),
    row("*.ign unit node-image-*", Ours, NODE_IMAGE),
    row("*.ign unit release-image-pivot.service", Theirs, PIVOT),
    row("*.ign unit var-ostreecontainer.mount", Ours, NODE_IMAGE),
    row("*.ign user core: generated keys", Both, GATHER_KEY),
];

const ADDRESSES: &str =
    "The inventory fixes names and addresses of hosts; openshift-install leaves them to DHCP and DNS.";
const APPROVAL: &str = "Certificate requests are approved by one policy, from outside the bootstrap host; openshift-install's script there approves every one.";
const BOUND_KEY: &str = "hardway makes the pair that signs bound tokens; openshift-install leaves it to the API server operator's render at boot.";
const BYPASSED: &str =
    "openshift-install was told not to check whether this host may install a FIPS cluster, and says so.";
const COMPLETE_CONFIGS: &str =
    "A complete config for every host, for machines that do not ask a machine-config-server.";
const CONTROL_PLANE: &str = "hardway writes the bootstrap control plane itself; openshift-install has the operators' images render it at boot.";
const CRDS: &str =
    "The CRDs of the release; openshift-install has them rendered from the release image at boot.";
const CREATION: &str = "This creates the manifests in the cluster; openshift-install's script runs cluster-bootstrap out of the release image for it.";
const EATEN_MANIFESTS: &str =
    "openshift-install eats its manifests; the copies inside its Ignition config were compared instead.";
const ENCAPSULATED: &str =
    "Ours is a complete MachineConfig; the first boot reads nothing of it but whether FIPS mode is on.";
const ETCD: &str =
    "hardway makes etcd's certificates; openshift-install leaves them to the etcd operator's render at boot.";
const GATES: &str = "hardway writes down which features the release turns on; openshift-install leaves it to a render at boot.";
const GATHER_KEY: &str =
    "The key that `gather` logs in with is ECDSA, which takes no time to make; openshift-install's is RSA.";
const HOST_KEYS: &str = "hardway draws the keys of the hosts' ssh servers, so that they are known before the first connection; openshift-install leaves them to the first boot.";
const IMAGE_POLICIES: &str =
    "Whose signatures nodes ask for; openshift-install has the cluster-version-operator render it at boot.";
const IN_PLACE: &str = "hardway merges the node's complete config with the state of the control plane by jq; openshift-install feeds a Butane file to cluster-bootstrap.";
const MASTER_POINTER: &str =
    "openshift-install writes no pointer for masters when the only one installs itself; hardway writes both.";
const NOBODY_READS: &str = "openshift-install copies it into the cluster, where nothing is known to read it; hardway says so and leaves it out.";
const NODE_IMAGE: &str = "These bring kubelet and runtime to a boot image that has none, as those of newer releases; they do nothing where there is a kubelet. openshift-install has them from 4.19 on.";
const NO_SUBSCRIPTION: &str = "OKD has no subscription to ask for. openshift-install carries the template of this object and does not write it.";
const OLD_FIELDS: &str = "An old name of a field; hardway writes what it means under the new name only, openshift-install under both.";
const OUR_WORDS: &str = "The same is said in our own words.";
const OVERRIDES: &str = "hardway lists every object of both folders, openshift-install leaves out what its machine assets make; the cluster-version operator manages none of these.";
const PIVOT: &str = "It is OKD's and empty on OpenShift; hardway leaves it out, and a boot image without a kubelet gets the payload's content from the node-image units.";
const PLAIN_FILES: &str = "hardway keeps every product and its whole state in plain files, so that each can be read and explained; openshift-install keeps them in one hidden file.";
const PROXY_NAMES: &str = "Some programs read only the lower-case names of the proxy variables; openshift-install sets the upper-case ones.";
const REFERENCES: &str = "The machine-config-operator's render reads it; openshift-install takes it out of the release image at boot.";
const SCRIPTS: &str =
    "Scripts are written in our own words, around stages of the same names: not texts to compare.";
const KUBELET_PULL_SECRET: &str =
    "The kubelet finds root's copy of the pull secret only if its unit has a HOME; this one it always finds.";
const SCRIPT_VALUES: &str = "The values of this cluster that the scripts read; the scripts themselves are the same for every cluster.";
const SECRET_MODE: &str = "Only root reads these on the bootstrap host, so only root may.";
const SEEDS: &str = "What the operators must find to accept the control plane; openshift-install has their images render it at boot.";
const THEY_STOP_EARLIER: &str = "The other directory stops at `create manifests`: run `create ignition-configs` in a copy of it to compare the rest.";
const WE_STOP_EARLIER: &str =
    "Our directory stops at `create manifests`: run `hardway create ignition-configs` to compare the rest.";
const WHO_MADE_IT: &str = "It says who made the manifests, and that was not openshift-install.";
const WRITTEN_OUT: &str =
    "False and zero are what the field means when it is absent; openshift-install writes them out.";

const fn row(place: &'static str, side: Side, because: &'static str) -> DiffReason {
    DiffReason { place, side, because }
}
