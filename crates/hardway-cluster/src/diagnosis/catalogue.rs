//! The failure catalogue, in the order of the chain: the first row that finds something is the first broken link.
//!
//! A row's number is kept for good, also when its place in the chain changes. What a row looks for in a log is written as a list
//! of alternatives, each a list of texts that must all stand in one line.

use super::evidence::Evidence;
use super::link::Link::{self, *};
use super::probes::{bootstrap, folder, logs, machines, names, nodes, operators, reach, seeds};
use crate::bootstrap_progress::State;

/// One entry.
#[derive(Clone, Copy, Debug)]
pub struct DiagnosisSpec {
    /// Such as `B2`; its code is `E-B2`.
    pub id: &'static str,
    /// Where in the chain.
    pub link: Link,
    logged: &'static [&'static [&'static str]],
    /// A stage of bootkube after which logs that say so are history.
    until: Option<&'static str>,
    seen: Option<Probe>,
}

/// Sentences about what is broken; none when nothing is.
type Probe = fn(&Evidence) -> Vec<String>;

impl DiagnosisSpec {
    /// Whether hardway can tell by itself.
    pub fn is_probed(&self) -> bool {
        self.seen.is_some() || !self.logged.is_empty()
    }

    /// What speaks for it.
    pub fn probe(&self, evidence: &Evidence) -> Vec<String> {
        let mut sentences = self.seen.map_or_else(Vec::new, |probe| probe(evidence));
        if !self.until.is_some_and(|stage| evidence.is_stage(stage, State::Done)) {
            sentences.extend(logs::lines_with(evidence, self.logged));
        }
        sentences
    }

    /// What it looks for in logs.
    pub fn patterns(&self) -> &'static [&'static [&'static str]] {
        self.logged
    }

    const fn logged(self, logged: &'static [&'static [&'static str]]) -> Self {
        Self { logged, ..self }
    }

    const fn until(self, stage: &'static str) -> Self {
        Self { until: Some(stage), ..self }
    }

    const fn seen(self, probe: Probe) -> Self {
        Self { seen: Some(probe), ..self }
    }
}

const fn row(id: &'static str, link: Link) -> DiagnosisSpec {
    DiagnosisSpec { id, link, logged: &[], until: None, seen: None }
}

/// Every entry.
pub const ROWS: &[DiagnosisSpec] = &[
    row("I1", Folder).seen(folder::not_json).logged(&[&["ignition", "failed to parse config"]]),
    row("I3", Folder).seen(folder::twice).logged(&[&["duplicate entry defined"]]),
    row("I9", Folder).seen(folder::not_installable),
    row("I12", Folder).seen(folder::too_large).logged(&[&["Invalid value", "exceeds 262144"]]),
    row("B30", Folder).seen(folder::other_prefix),
    row("D9", Folder).seen(folder::unusable_domain),
    row("I6", Folder).seen(folder::expired).logged(&[&["/config/", "certificate has expired", "is after"]]),
    row("H19", Host).seen(machines::dead),
    row("H1", Host).logged(&[
        &["Cannot access storage file", "ermission denied"],
        &["Could not open", "Permission denied"],
    ]),
    row("H2", Host).logged(&[&["qemu:///session"]]),
    row("H3", Host).logged(&[&["already in use by interface"]]),
    row("H4", Host).logged(&[&["bridge", "Numerical result out of range"]]),
    row("H18", Host).logged(&[&["Could not access KVM kernel module"]]),
    row("H13", Host)
        .logged(&[&["qemu", "Cannot allocate memory"], &["Out of memory: Killed process", "qemu"]]),
    row("H14", Host).logged(&[&["paused", "I/O error"]]),
    row("H15", Host).logged(&[&["CPU does not support x86-64-v2"]]),
    row("H11", Host).logged(&[&["No bootable device"]]),
    row("H6", Host).logged(&[&["6443: connect: no route to host"], &["22623: connect: no route to host"]]),
    row("H7", Host).seen(machines::addresses_lost),
    row("H8", Host)
        .logged(&[&["already in use in the network by host"], &["IPv6 duplicate address", "detected"]]),
    row("H9", Host).logged(&[&["<on_reboot>destroy</on_reboot>"]]),
    row("H12", Host).seen(machines::interfaces_loose),
    row("H16", Host).logged(&[&["Cannot access storage file", "No such file or directory"]]),
    row("H17", Host),
    row("D1", Names).seen(names::api_names).logged(&[&["lookup api", "no such host"]]),
    row("D6", Names).seen(names::only_here),
    row("D7", Names).seen(names::stray),
    row("D2", Names).seen(names::apps),
    row("D8", Names).logged(&[&["lookup ", "server misbehaving"]]),
    row("L2", LoadBalancer).logged(&[&["cannot bind socket", "Permission denied"]]),
    row("L3", LoadBalancer).logged(&[&["cannot bind socket", "Address already in use"]]),
    row("L4", LoadBalancer).logged(&[&["cannot bind socket", "Cannot assign requested address"]]),
    row("L1", LoadBalancer).logged(&[&["L7STS/400"], &["Layer7 wrong status, code: 400"]]),
    row("L5", LoadBalancer).logged(&[&["x509: certificate is valid for", ", not api"]]),
    row("L9", LoadBalancer).seen(reach::config_port_closed),
    row("L7", LoadBalancer).seen(reach::removed_too_early),
    row("L6", LoadBalancer).seen(reach::some_fail),
    row("L10", LoadBalancer).seen(reach::routers_elsewhere),
    row("L11", LoadBalancer).seen(reach::no_way_back),
    // Ended by the balancer's clock for clients, or for servers, while data went by (haproxy, doc/configuration.txt 8.5).
    row("L8", LoadBalancer).logged(&[&["haproxy[", " cD "], &["haproxy[", " sD "]]),
    row("R7", OsInstall).logged(&[&["ISO image is incomplete"]]),
    row("R9", OsInstall).logged(&[&["Compressed initramfs is too large"]]),
    row("R10", OsInstall)
        .logged(&[&["ISO image is already customized"], &["already has an embedded Ignition config"]]),
    row("R8", OsInstall).logged(&[&["when unpacking initrd"], &["Initramfs unpacking failed: write error"]]),
    row("R15", OsInstall).logged(&[&["VFS: Unable to mount root"]]),
    row("R14", OsInstall).logged(&[
        &["Couldn't establish connectivity"],
        &["Couldn't query the server for the rootfs"],
        &["Couldn't fetch, verify, and unpack image"],
    ]),
    row("R1", OsInstall).logged(&[&["refusing to fetch Ignition config over HTTP"]]),
    row("R2", OsInstall)
        .logged(&[&["coreos-installer", "404 Not Found"], &["HTTP status client error (404"]]),
    row("R4", OsInstall).logged(&[&["is not a block device"]]),
    row("R5", OsInstall).logged(&[&["found busy partitions"]]),
    row("H10", OsInstall).seen(machines::again_and_again),
    row("R3", OsInstall).logged(&[&["hash mismatch, computed"]]),
    row("R6", OsInstall).seen(machines::old_system),
    row("R11", OsInstall).seen(machines::other_address),
    // Only what the first boot's initramfs says: later a second network card may well wait in vain.
    row("R12", OsInstall).logged(&[&["dracut-initqueue timeout"], &["nm-wait-online-initrd", "failed"]]),
    // What a controller answers when it cannot fetch the medium (DMTF's Base message registry).
    row("R16", OsInstall).logged(&[
        &["CouldNotEstablishConnection"],
        &["ResourceAtUriUnauthorized"],
        &["ResourceAtUriInUnknownFormat"],
    ]),
    row("R17", OsInstall).logged(&[&["error decoding response body"], &["request or response body error"]]),
    row("I11", Ignition).logged(&[&["no config provided by user"]]),
    row("I2", Ignition).logged(&[&["unsupported config version"]]),
    row("I4", Ignition).logged(&[&["A file exists there already and overwrite is false"]]),
    row("I5", Ignition).logged(&[&["/config/", "x509: certificate signed by unknown authority"]]),
    row("I7", Ignition).logged(&[&["GET result: Internal Server Error"]]),
    row("N16", Ignition).logged(&[&["GET result: Unauthorized"], &["GET result: Forbidden"]]),
    row("I8", Ignition).logged(&[
        &["/config/", "GET error", "connection refused"],
        &["/config/", "GET error", "i/o timeout"],
    ]),
    row("I13", Ignition).seen(machines::never_fetched),
    row("B23", Bootstrap).seen(bootstrap::clocks_differ).logged(&[
        &["certificate has expired or is not yet valid", "is before"],
        &["clock difference", "too high"],
    ]),
    row("I10", Bootstrap).logged(&[&["status=203/EXEC"]]),
    row("B27", Bootstrap).seen(seeds::no_feature_gates),
    row("B28", Bootstrap).seen(seeds::no_internal_address),
    row("B29", Bootstrap).seen(seeds::other_etcd_signer),
    row("B31", Bootstrap).seen(seeds::no_token_keys),
    row("B32", Bootstrap).seen(seeds::nobody_reports),
    row("B2", Bootstrap).logged(&[
        &["unauthorized: access to the requested resource is not authorized"],
        &["unable to retrieve auth token: invalid username/password"],
    ]),
    row("C12", Bootstrap).logged(&[&["toomanyrequests"]]),
    row("H5", Bootstrap).logged(&[&["pinging container registry", "i/o timeout"]]),
    row("B1", Bootstrap).logged(&[&["registry.k8s.io/pause", "rror"]]),
    row("B26", Bootstrap).seen(bootstrap::no_release_image),
    row("B22", Bootstrap).logged(&[&["unable to load client CA file"]]),
    row("B7", Bootstrap).logged(&[&["Could not process manifest file"]]),
    row("B5", Bootstrap).logged(&[&["cluster ID mismatch"]]),
    row("B3", Bootstrap)
        .logged(&[&["certificate specifies an incompatible key usage"], &["etcd", "tls: bad certificate"]]),
    row("B6", Bootstrap).logged(&[&["x509: certificate is valid for", ", not localhost"]]),
    row("B17", Bootstrap).logged(&[&["cluster-bootstrap", "is already in use"]]),
    row("B18", Bootstrap)
        .logged(&[&["dial tcp [::1]:6443: connect: connection refused"]])
        .until("wait-for-api"),
    row("B9", Bootstrap).logged(&[&["unable to read release manifests"]]),
    row("B10", Bootstrap).logged(&[&["no matches for kind \"MachineConfig\""]]),
    row("B8", Bootstrap)
        .logged(&[&["cluster-version-operator", "no matches for kind"], &["feature set mismatch"]]),
    row("B15", Bootstrap).logged(&[&["configmaps \"cluster-config-v1\" not found"]]),
    row("B14", Bootstrap)
        .seen(operators::network_unconfigured)
        .logged(&[&["No networks.operator.openshift.io cluster found"]]),
    row("B12", Bootstrap).logged(&[&["kube-proxy", "ID cannot be empty"]]),
    row("B19", Bootstrap)
        .logged(&[&["error while checking pod status: timed out waiting for the condition"]]),
    row("B4", Bootstrap).seen(bootstrap::slow_disk),
    row("B25", Bootstrap).seen(bootstrap::stage_failed),
    row("B21", Bootstrap).logged(&[&["timed out waiting for the condition on nodes/"]]),
    row("C13", Api).seen(reach::unknown_authority),
    row("C15", Api).seen(reach::api_silent),
    row("D3", Nodes).seen(nodes::localhost).logged(&[&["node-valid-hostname.service", "Failed"]]),
    row("D4", Nodes).seen(nodes::named_by_alias),
    row("D5", Nodes).seen(nodes::one_name_twice),
    row("R13", Nodes).seen(nodes::other_address),
    row("N10", Nodes).logged(&[&["Unable to find default gateway interface"]]),
    row("N11", Nodes).logged(&[&["nodeip-configuration.service: Failed"]]),
    row("N9", Nodes).logged(&[&["machine-config-daemon-firstboot.service: Failed"]]),
    row("C10", Nodes).logged(&[&["certificate has expired or is not yet valid", "is after"]]),
    row("N4", Nodes).seen(nodes::flood),
    row("N1", Nodes).seen(nodes::client_requests_wait),
    row("N13", Nodes).logged(&[&["node \"", "\" not found"]]),
    row("N17", Nodes).seen(nodes::never_asked),
    row("N2", Nodes).seen(nodes::serving_requests_wait),
    row("N15", Nodes).logged(&[&["ovn-node-metrics-cert", "not found"]]),
    row("B11", Nodes).seen(nodes::service_unreachable),
    row("N14", Nodes).seen(nodes::without_network),
    row("N18", Nodes).seen(nodes::not_ready),
    row("N7", Nodes).seen(nodes::without_annotations),
    row("N3", Nodes).logged(&[&["machine-approver", "no target machine"]]),
    row("N8", Nodes).seen(nodes::another_system),
    row("N12", Nodes).logged(&[&["Cannot bring up connection", "after 10 attempts"]]),
    row("B13", ControlPlane).seen(operators::no_topology),
    row("B16", ControlPlane).seen(operators::bootstrap_member_unknown),
    row("B20", ControlPlane).seen(operators::bootstrap_member_stays),
    row("B24", ControlPlane).seen(operators::bootstrap_member_dead),
    row("N5", ControlPlane).seen(operators::rendered_config_missing),
    row("N6", ControlPlane).seen(operators::file_differs),
    row("C1", Operators).seen(operators::nowhere_for_routers),
    row("C2", Operators).seen(operators::canary_fails),
    row("C3", Operators).seen(operators::login_unreachable),
    row("C4", Operators).seen(operators::console_unreachable),
    row("C6", Operators).seen(operators::monitoring),
    row("C14", Operators).seen(operators::unwell),
    row("C16", Operators).seen(operators::version_fails),
    row("C7", Operators).seen(folder::unusable_password),
    row("C5", Operators),
    row("C8", Operators).seen(operators::none_reported),
    row("C9", Operators).seen(operators::rolls_out),
    row("C11", Operators).logged(&[&["bind() to", "failed (13: Permission denied)"]]),
];
