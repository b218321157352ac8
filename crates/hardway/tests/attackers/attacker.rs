//! Who attacks: what each has in hand at a moment, and what each wants.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;

use hardway_testing::{AUTH, succeed};

use super::ask::{self, Ask, Dice};
use super::cluster::{
    COMPROMISED, Cluster, HOST, Host, address, address_of, headers, node_name, token_secret,
};
use super::credential::Credential;

/// Somebody who is not to get in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Attacker {
    /// On the machine network, where port 22623 gives everybody the identity that new machines share.
    MachineNetwork,
    /// Wherever the API address is reached from.
    ApiAddress,
    /// In a pod of the cluster.
    Pod,
    /// On a worker, as root.
    CompromisedWorker,
    /// With an install medium or a pointer.
    StolenMedium,
    /// With a namespace of the management cluster.
    Tenant,
    /// With an account on the computer that hardway runs on.
    LocalUser,
}

impl Attacker {
    pub(crate) const ALL: [Self; 7] = [
        Self::MachineNetwork,
        Self::ApiAddress,
        Self::Pod,
        Self::CompromisedWorker,
        Self::StolenMedium,
        Self::Tenant,
        Self::LocalUser,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MachineNetwork => "machine-network",
            Self::ApiAddress => "api-address",
            Self::Pod => "pod",
            Self::CompromisedWorker => "compromised-worker",
            Self::StolenMedium => "stolen-medium",
            Self::Tenant => "tenant",
            Self::LocalUser => "local-user",
        }
    }
}

/// What lies about for them to take, at one moment.
#[derive(Clone)]
pub(crate) struct Loot {
    trusted: Vec<u8>,
    /// The kubeconfig that machines of stock pointers share.
    shared: String,
    pod: String,
    tenant: String,
    /// Of the compromised worker: its node's certificate, and what it booted with.
    node: Vec<u8>,
    boot: String,
    used_pointer: Vec<(String, String)>,
    /// Of the host that joins: the pointers of its media, and the kubeconfigs that are worth nothing any more.
    pub(crate) pointers: Vec<Vec<(String, String)>>,
    pub(crate) old_identities: Vec<String>,
    /// Certificates of nobody's authority.
    forged: Vec<Vec<u8>>,
    /// Files with secrets.
    files: Vec<PathBuf>,
}

/// The tenant's namespace, and the token of a Secret there that looks like one of a hosted control plane's.
const TENANT: &str = "clusters-tenant";
const TENANTS_TOKEN: &str = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
/// The stranger's own address.
const STRANGER: u8 = 66;

impl Loot {
    /// With a worker that is somebody else's, and the medium of the host that will join.
    pub(crate) fn new(cluster: &Cluster, worker: &Host) -> Self {
        Self {
            trusted: cluster.trusted(),
            shared: cluster.site.read("kubeconfigs/kubelet.kubeconfig"),
            pod: service_account(cluster, "default", "thief"),
            tenant: tenant(cluster),
            node: worker.node_certificate(),
            boot: worker.kubeconfig(),
            used_pointer: headers(&cluster.pointer(COMPROMISED)),
            pointers: vec![headers(&cluster.pointer(HOST))],
            old_identities: Vec::new(),
            forged: forged(),
            files: secret_files(cluster),
        }
    }

    /// What they do with it: who they are, and what they ask for.
    pub(crate) fn attempt(&self, attacker: Attacker, dice: &mut Dice) -> (Credential, Ask) {
        let at = address(STRANGER);
        let nobody = || Credential::none("nobody", at, &self.trusted);
        let shared = |from: IpAddr| Credential::kubeconfig("shared", from, &self.trusted, &self.shared);
        match attacker {
            Attacker::MachineNetwork => match dice.one_of(4) {
                0 => (nobody(), ask::config_without_token(dice)),
                1 => (nobody(), ask::certificate(dice)),
                _ => (shared(at), ask::certificate(dice)),
            },
            Attacker::ApiAddress => self.at_the_api(dice),
            Attacker::Pod => {
                // What leaves a pod has the address of its node.
                let from = address_of(COMPROMISED);
                let pod = Credential::token("pod", from, &self.trusted, &self.pod);
                match dice.one_of(5) {
                    0 => (nobody().at(from), ask::config_without_token(dice)),
                    1 => (pod, ask::user_data()),
                    2 => (pod, ask::certificate_of_joined(dice)),
                    _ => (pod, ask::certificate(dice)),
                }
            }
            Attacker::CompromisedWorker => self.on_a_worker(dice),
            Attacker::StolenMedium => self.with_medium(dice),
            Attacker::Tenant => {
                let tenant = Credential::token("tenant", at, &self.trusted, &self.tenant);
                match dice.one_of(8) {
                    0 => (nobody(), ask::config_without_token(dice)),
                    1 => (nobody(), ask::hosted_config(TENANTS_TOKEN)),
                    2 => (tenant, ask::user_data()),
                    3 => (tenant.with("Impersonate-User", "system:admin"), ask::certificate(dice)),
                    4 => (tenant, ask::more_rights(TENANT, TENANTS_TOKEN, dice)),
                    _ => (tenant, ask::certificate(dice)),
                }
            }
            Attacker::LocalUser => {
                let here = || nobody().at(IpAddr::V4(Ipv4Addr::LOCALHOST));
                match dice.one_of(4) {
                    0 => (here(), ask::config_without_token(dice)),
                    1 => (here(), ask::certificate(dice)),
                    _ => (here(), Ask::File(self.files[dice.one_of(self.files.len())].clone())),
                }
            }
        }
    }

    /// The compromised worker fetches its own config once more, from its own address.
    pub(crate) fn used_pointer_again(&self) -> (Credential, Ask) {
        let worker = Credential::none("its used pointer", address_of(COMPROMISED), &self.trusted);
        (worker, Ask::Config(format!("/ignition/{COMPROMISED}"), self.used_pointer.clone()))
    }

    /// It asks for its own name once more, as it did when it booted.
    pub(crate) fn boot_identity_again(&self, dice: &mut Dice) -> (Credential, Ask) {
        let at = address_of(COMPROMISED);
        let boot = Credential::kubeconfig("its boot identity", at, &self.trusted, &self.boot);
        (boot, ask::certificate_of_joined(dice))
    }

    fn at_the_api(&self, dice: &mut Dice) -> (Credential, Ask) {
        let at = address(STRANGER);
        let who = match dice.one_of(5) {
            0 => Credential::none("nobody", at, &self.trusted),
            1 => Credential::token("made-up token", at, &self.trusted, "abcdef.0123456789abcdef"),
            2 => Credential::token("made-up token", at, &self.trusted, UNSIGNED),
            _ => {
                let forged = &self.forged[dice.one_of(self.forged.len())];
                Credential::certificate("forged", at, &self.trusted, forged)
            }
        };
        let asks = match dice.one_of(6) {
            0 => ask::user_data(),
            1 => ask::node_of_another(),
            _ => ask::certificate(dice),
        };
        (who, asks)
    }

    fn on_a_worker(&self, dice: &mut Dice) -> (Credential, Ask) {
        let at = address_of(COMPROMISED);
        let node = || Credential::certificate("its node", at, &self.trusted, &self.node);
        let boot = || Credential::kubeconfig("its boot identity", at, &self.trusted, &self.boot);
        let nobody = Credential::none("nobody", at, &self.trusted);
        match dice.one_of(10) {
            0 => (nobody, ask::config_with(&self.used_pointer, dice)),
            1 => (node(), ask::node_of_another()),
            2 => (node(), ask::user_data()),
            3 => (node(), ask::names_of_others(dice)),
            4 => (node(), ask::approval()),
            5 | 6 => (node(), ask::certificate(dice)),
            7 => (boot(), ask::certificate_of_joined(dice)),
            8 => (boot(), ask::certificate(dice)),
            _ => {
                let shared = Credential::kubeconfig("shared", at, &self.trusted, &self.shared);
                (shared, ask::certificate(dice))
            }
        }
    }

    /// A medium has a token, which is worth something only at the host's own address; and what was on the disk of a machine
    /// that is gone has an identity that ended with it.
    fn with_medium(&self, dice: &mut Dice) -> (Credential, Ask) {
        let at = address(STRANGER);
        let nobody = Credential::none("nobody", at, &self.trusted);
        if !self.old_identities.is_empty() && dice.one_of(3) > 0 {
            let old = &self.old_identities[dice.one_of(self.old_identities.len())];
            return (
                Credential::kubeconfig("an old identity", at, &self.trusted, old),
                ask::certificate(dice),
            );
        }
        (nobody, ask::config_with(&self.pointers[dice.one_of(self.pointers.len())], dice))
    }
}

/// `{"alg":"none"}` and an administrator, without a signature.
const UNSIGNED: &str =
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4iLCJncm91cHMiOlsic3lzdGVtOm1hc3RlcnMiXX0.";

/// The token of a service account, as a pod finds it.
fn service_account(cluster: &Cluster, namespace: &str, name: &str) -> String {
    let kubectl = || cluster.plane.kubectl();
    succeed(kubectl().args(["create", "serviceaccount", name, "-n", namespace]));
    succeed(kubectl().args(["create", "token", name, "-n", namespace])).trim().to_owned()
}

/// Somebody who may do everything in a namespace of their own, and has made a token Secret there.
fn tenant(cluster: &Cluster) -> String {
    let kubectl = || cluster.plane.kubectl();
    succeed(kubectl().args(["create", "namespace", TENANT]));
    let token = service_account(cluster, TENANT, "owner");
    let binding = ["create", "rolebinding", "owner", "-n", TENANT, "--clusterrole=admin"];
    succeed(kubectl().args(binding).arg(format!("--serviceaccount={TENANT}:owner")));
    cluster.plane.apply(&token_secret(TENANT, TENANTS_TOKEN));
    token
}

/// Certificates with the names of those who may do something, signed by nobody.
fn forged() -> Vec<Vec<u8>> {
    let host = node_name(HOST);
    let subjects = [
        "/O=system:masters/CN=system:admin".to_owned(),
        format!("/O=system:nodes/CN=system:node:{host}"),
        "/O=hardway:hosts/CN=hardway:host:worker-0:1".to_owned(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let forge = |subject: String| {
        let (key, certificate) = (folder.path().join("key"), folder.path().join("crt"));
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-days", "2"]).args(hardway_testing::NEW_KEY).args(["-subj", &subject]);
        succeed(openssl.arg("-keyout").arg(&key).arg("-out").arg(&certificate));
        [fs_err::read(certificate).unwrap(), fs_err::read(key).unwrap()].concat()
    };
    subjects.into_iter().map(forge).collect()
}

/// Everything in the folder that has a key, a token or the pull secret in it.
fn secret_files(cluster: &Cluster) -> Vec<PathBuf> {
    let token = headers(&cluster.pointer(HOST))[0].1.clone();
    let token = token.trim_start_matches("Bearer ").to_owned();
    let mut grep = Command::new("grep");
    grep.args(["-rlaF", "-e", "PRIVATE KEY", "-e", AUTH, "-e", &token, "-e", "\"auths\""]);
    let found = succeed(grep.arg(cluster.site.path("")));
    let mut files: Vec<PathBuf> = found.lines().map(PathBuf::from).collect();
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    files
}
