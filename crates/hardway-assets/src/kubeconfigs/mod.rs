//! Kubeconfigs: who talks to which API address, trusting whom.
//!
//! Four are the installer's (`pkg/asset/kubeconfig`): admin, admin-internal, loopback, kubelet. Eight are the ones the
//! hand-made guide teaches with, on the same PKI. All are rows of one table. Besides, every host has one of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use serde_json::json;

use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::inventory::Host;
use crate::{Cluster, Phase, host_identity, pki, yaml};

/// One kubeconfig.
#[derive(Clone, Copy, Debug)]
pub struct Kubeconfig {
    /// The asset's name.
    pub id: &'static str,
    /// Where it lies.
    pub path: &'static str,
    /// Which address it calls.
    pub server: ApiEndpoint,
    /// What it calls the cluster; `None` is the cluster's own name.
    pub cluster_name: Option<&'static str>,
    /// What it calls the user, and the context.
    pub user: &'static str,
    /// The bundle it trusts.
    pub ca: &'static str,
    /// The certificate it shows.
    pub client: &'static str,
}

/// Which API address a kubeconfig calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiEndpoint {
    /// `api.<domain>`, for people.
    External,
    /// `api-int.<domain>`, for nodes.
    Internal,
    /// The API server on the same host, past any load balancer.
    Localhost,
}

/// The bundle of everybody who calls the API by one of its names.
pub(crate) const COMPLETE: &str = "kube-apiserver-complete-server-ca-bundle";
const LOCALHOST: &str = "kube-apiserver-localhost-ca-bundle";
const ADMIN: &str = "admin-kubeconfig-client";

/// Every kubeconfig.
#[rustfmt::skip]
pub const KUBECONFIGS: &[Kubeconfig] = &[
    Kubeconfig { id: "kubeconfig-admin", path: "auth/kubeconfig", server: ApiEndpoint::External, cluster_name: None, user: "admin", ca: COMPLETE, client: ADMIN },
    Kubeconfig { id: "kubeconfig-admin-internal", path: "kubeconfigs/admin-internal.kubeconfig", server: ApiEndpoint::Internal, cluster_name: None, user: "admin", ca: COMPLETE, client: ADMIN },
    Kubeconfig { id: "kubeconfig-loopback", path: "kubeconfigs/loopback.kubeconfig", server: ApiEndpoint::Localhost, cluster_name: None, user: "loopback", ca: LOCALHOST, client: ADMIN },
    Kubeconfig { id: "kubeconfig-kubelet", path: "kubeconfigs/kubelet.kubeconfig", server: ApiEndpoint::Internal, cluster_name: None, user: "kubelet", ca: COMPLETE, client: "kubelet-client" },
    // The guide's eight.
    Kubeconfig { id: "kubeconfig-guide-admin", path: "kubeconfigs/admin.kubeconfig", server: ApiEndpoint::External, cluster_name: None, user: "admin", ca: COMPLETE, client: ADMIN },
    Kubeconfig { id: "kubeconfig-kube-controller-manager", path: "kubeconfigs/kube-controller-manager.kubeconfig", server: ApiEndpoint::Internal, cluster_name: None, user: "system:kube-controller-manager", ca: COMPLETE, client: "kube-controller-manager-client" },
    Kubeconfig { id: "kubeconfig-kube-scheduler", path: "kubeconfigs/kube-scheduler.kubeconfig", server: ApiEndpoint::Internal, cluster_name: None, user: "system:kube-scheduler", ca: COMPLETE, client: "kube-scheduler-client" },
    Kubeconfig { id: "kubeconfig-kubelet-bootstrap", path: "kubeconfigs/kubelet-bootstrap.kubeconfig", server: ApiEndpoint::Internal, cluster_name: None, user: "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper", ca: COMPLETE, client: "kubelet-client" },
    Kubeconfig { id: "kubeconfig-localhost", path: "kubeconfigs/localhost.kubeconfig", server: ApiEndpoint::Localhost, cluster_name: Some("localhost"), user: "admin", ca: LOCALHOST, client: ADMIN },
    Kubeconfig { id: "kubeconfig-localhost-recovery", path: "kubeconfigs/localhost-recovery.kubeconfig", server: ApiEndpoint::Localhost, cluster_name: Some("localhost-recovery"), user: "admin", ca: LOCALHOST, client: ADMIN },
    Kubeconfig { id: "kubeconfig-lb-int", path: "kubeconfigs/lb-int.kubeconfig", server: ApiEndpoint::Internal, cluster_name: Some("lb-int"), user: "admin", ca: COMPLETE, client: ADMIN },
    Kubeconfig { id: "kubeconfig-lb-ext", path: "kubeconfigs/lb-ext.kubeconfig", server: ApiEndpoint::External, cluster_name: Some("lb-ext"), user: "admin", ca: COMPLETE, client: ADMIN },
];

/// The assets of `kubeconfigs/` and `auth/`.
pub fn assets(cluster: &Cluster) -> Vec<Box<dyn Asset>> {
    let mut assets: Vec<Box<dyn Asset>> = KUBECONFIGS.iter().map(|row| Box::new(*row) as _).collect();
    let hosts = cluster.inventory.hosts.iter().filter(|host| host.has_identity());
    assets.extend(hosts.map(|host| Box::new(HostKubeconfig::new(host)) as _));
    assets.push(Box::new(KubeadminPassword));
    assets
}

impl Asset for Kubeconfig {
    fn id(&self) -> String {
        self.id.to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::MakeKubeconfigs
    }

    fn sources(&self) -> Vec<Source> {
        let mut sources = vec![
            Source::config("metadata.name"),
            Source::key(self.client),
            Source::file(pki::path(self.client)),
            Source::file(pki::path(self.ca)),
        ];
        if self.server != ApiEndpoint::Localhost {
            sources.push(Source::config("baseDomain"));
        }
        sources
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::secret(self.path)]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let cluster = inputs.cluster;
        let server = match self.server {
            ApiEndpoint::External => cluster.api_url(),
            ApiEndpoint::Internal => cluster.api_int_url(),
            ApiEndpoint::Localhost => "https://localhost:6443".to_owned(),
        };
        let document = Document {
            server: &server,
            cluster_name: self.cluster_name.unwrap_or(&cluster.config.metadata.name),
            user: self.user,
            ca: inputs.file(&pki::path(self.ca))?,
            certificate: inputs.file(&pki::path(self.client))?,
            key: inputs.secrets.get(&format!("{}.key", self.client))?,
        };
        Ok(vec![document.write().into_bytes()])
    }
}

/// `kubeconfigs/hosts/<host>.kubeconfig`: what one host asks with for its first certificate as a node.
pub struct HostKubeconfig {
    host: String,
    client: String,
}

impl HostKubeconfig {
    /// Of a host with an identity of its own.
    pub fn new(host: &Host) -> Self {
        Self { host: host.name.clone(), client: host_identity::certificate(&host.name) }
    }

    /// The same with other authorities: a cluster that runs may have others than it was installed with.
    pub fn trusting(&self, inputs: &Inputs<'_>, ca: &[u8]) -> Result<Vec<u8>, MakeError> {
        let document = Document {
            server: &inputs.cluster.api_int_url(),
            cluster_name: &inputs.cluster.config.metadata.name,
            user: "kubelet",
            ca,
            certificate: inputs.file(&pki::path(&self.client))?,
            key: inputs.secrets.get(&format!("{}.key", self.client))?,
        };
        Ok(document.write().into_bytes())
    }
}

impl Asset for HostKubeconfig {
    fn id(&self) -> String {
        format!("kubeconfig-host-{}", self.host)
    }

    fn phase(&self) -> Phase {
        Phase::MakeKubeconfigs
    }

    fn sources(&self) -> Vec<Source> {
        vec![
            Source::config("metadata.name"),
            Source::config("baseDomain"),
            Source::key(&self.client),
            Source::file(pki::path(&self.client)),
            Source::file(pki::path(COMPLETE)),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::secret(host_identity::kubeconfig(&self.host))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(vec![self.trusting(inputs, inputs.file(&pki::path(COMPLETE))?)?])
    }
}

/// `auth/kubeadmin-password`: the password as the user types it, without a newline. The cluster gets only its bcrypt hash.
pub struct KubeadminPassword;

impl Asset for KubeadminPassword {
    fn id(&self) -> String {
        "kubeadmin-password".to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::MakeKubeconfigs
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::Secret("kubeadmin-password".to_owned())]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::secret("auth/kubeadmin-password")]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(vec![inputs.secrets.get("kubeadmin-password")?.expose().trim_ascii_end().to_vec()])
    }
}

/// One cluster, one user, one context.
pub(super) struct Document<'a> {
    pub(super) server: &'a str,
    pub(super) cluster_name: &'a str,
    pub(super) user: &'a str,
    pub(super) ca: &'a [u8],
    pub(super) certificate: &'a [u8],
    pub(super) key: &'a Secret,
}

impl Document<'_> {
    /// As kubectl reads it.
    pub(super) fn write(&self) -> String {
        yaml::write(&json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{
                "name": self.cluster_name,
                "cluster": {"server": self.server, "certificate-authority-data": STANDARD.encode(self.ca)},
            }],
            "users": [{
                "name": self.user,
                "user": {
                    "client-certificate-data": STANDARD.encode(self.certificate),
                    "client-key-data": STANDARD.encode(self.key.expose()),
                },
            }],
            "contexts": [{"name": self.user, "context": {"cluster": self.cluster_name, "user": self.user}}],
            "current-context": self.user,
        }))
    }
}
