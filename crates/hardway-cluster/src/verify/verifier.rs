//! Asks the cluster, and has the answers judged.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::net::IpAddr;
use std::time::Duration;

use hardway_assets::inventory::Role;
use hardway_assets::pem;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, ClusterResourceScope, GroupVersionKind, NamespaceResourceScope};
use kube::{Client, Config, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use super::certificates::{Expiring, Presented, judge_certificates};
use super::control_plane::{PodsOf, judge_control_plane, judge_etcd, judge_operators};
use super::nodes::judge_nodes;
use super::outcome::{CHECKS, Outcome};
use super::surroundings::{Resolved, judge_names, judge_registry};
use super::workload::Workload;
use crate::api_error::{sentence, unless_absent};
use crate::declared::Declared;
use crate::handshake::{self, Trust};
use crate::objects::{
    ClusterVersion, ConfigMap, Etcd, KubeApiServer, KubeControllerManager, KubeScheduler, Node, Pod, Route,
    StaticPodOperator, StaticPodStatus,
};
use crate::pivot::{EtcdAccess, ask_members};

/// Everything that is needed to look at a cluster from outside.
#[derive(Clone, Debug)]
pub struct Verifier {
    /// How the API is reached.
    pub config: Config,
    /// What should be there.
    pub declared: Declared,
    /// What should be around it.
    pub surroundings: Surroundings,
    /// How etcd is asked.
    pub etcd: Option<EtcdAccess>,
    /// Of the test pod; none: that check is left out.
    pub image: Option<String>,
    /// By the clock of who looks.
    pub now: Timestamp,
    /// Checks that are not wanted.
    pub skip: BTreeSet<String>,
    /// For each answer.
    pub patience: Duration,
    /// For the test pod.
    pub pod_patience: Duration,
}

/// Names and addresses around the cluster.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Names that must resolve, with what they should be.
    pub names: Vec<(String, Vec<IpAddr>)>,
    /// Where the API presents a certificate.
    pub endpoints: Vec<Endpoint>,
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Such as `api-int.ocp4.example.com`.
    pub host: String,
    /// Such as 6443.
    pub port: u16,
}

impl Verifier {
    /// Runs every check that is wanted, in the order of [`CHECKS`].
    pub async fn run(&self) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for (check, _) in CHECKS {
            match check {
                _ if !self.wants(check) => outcomes.push(Outcome::skipped(check, "not wanted")),
                // Come with the workload.
                "logs" | "exec" if self.wants("workload") => {}
                "logs" | "exec" => {
                    outcomes.push(Outcome::skipped(check, "no pod runs without the check workload"))
                }
                "workload" => outcomes.extend(self.workload().await),
                _ => outcomes.push(self.one(check).await.unwrap_or_else(|why| {
                    Outcome::failed(
                        check,
                        vec![why],
                        "does the API answer? hardway wait-for install-complete",
                    )
                })),
            }
        }
        outcomes.sort_by_key(|outcome| CHECKS.iter().position(|(name, _)| *name == outcome.check));
        outcomes
    }

    fn wants(&self, check: &str) -> bool {
        !self.skip.contains(check)
    }

    async fn one(&self, check: &'static str) -> Result<Outcome, String> {
        Ok(match check {
            "names" => judge_names(&self.names().await),
            "certificates" => judge_certificates(self.now, &self.presented().await, &self.secrets().await?),
            "nodes" => {
                let version = self.within(self.client()?.apiserver_version()).await?;
                judge_nodes(&self.declared, &self.all::<Node>().await?, &version.git_version)
            }
            "operators" => {
                let versions = self.all::<ClusterVersion>().await?;
                let version = versions.iter().find(|version| version.name_any() == "version");
                judge_operators(version, &self.all().await?)
            }
            "control-plane" => self.control_plane().await?,
            "etcd" => {
                let masters = self.masters().await?.len();
                match &self.etcd {
                    None => {
                        Outcome::skipped("etcd", "there is no etcd client certificate in the working folder")
                    }
                    Some(access) => match ask_members(access).await {
                        Ok(members) => judge_etcd(masters, Ok(&members)),
                        Err(error) => judge_etcd(masters, Err(&error.to_string())),
                    },
                }
            }
            "console" => self.console().await?,
            _ => judge_registry(self.registry().await?.as_ref()),
        })
    }

    async fn names(&self) -> Vec<Resolved> {
        let mut names = Vec::new();
        for (name, expected) in &self.surroundings.names {
            let found = match timeout(self.patience, tokio::net::lookup_host((name.as_str(), 443))).await {
                Err(_) => Err("no answer".to_owned()),
                Ok(Err(error)) => Err(error.to_string()),
                Ok(Ok(found)) => {
                    let found: BTreeSet<IpAddr> = found.map(|address| address.ip()).collect();
                    Ok(found.into_iter().collect())
                }
            };
            names.push(Resolved { name: name.clone(), expected: expected.clone(), found });
        }
        names
    }

    async fn presented(&self) -> Vec<Presented> {
        let mut presented = Vec::new();
        for Endpoint { host, port } in &self.surroundings.endpoints {
            let roots = self.config.root_cert.clone().unwrap_or_default();
            let chain = handshake::chain(host.clone(), *port, Trust::Roots(roots), self.patience).await;
            presented.push(Presented { endpoint: format!("{host}:{port}"), chain });
        }
        presented
    }

    /// Only their metadata: the operators write into annotations when a certificate ends (library-go pkg/certs).
    async fn secrets(&self) -> Result<Vec<Expiring>, String> {
        let secrets: Api<Secret> = Api::all(self.client()?);
        let listed = self.within(secrets.list_metadata(&ListParams::default())).await?;
        let time = |secret: &dyn Fn(&str) -> Option<String>, key: &str| secret(key)?.parse().ok();
        let expiring = |meta: &kube::api::ObjectMeta| {
            let annotations = meta.annotations.clone().unwrap_or_default();
            let get = |key: &str| annotations.get(&format!("auth.openshift.io/certificate-{key}")).cloned();
            let name = format!(
                "{}/{}",
                meta.namespace.clone().unwrap_or_default(),
                meta.name.clone().unwrap_or_default()
            );
            Some(Expiring {
                secret: name,
                not_before: time(&get, "not-before"),
                not_after: time(&get, "not-after")?,
            })
        };
        Ok(listed.items.iter().filter_map(|secret| expiring(&secret.metadata)).collect())
    }

    /// Declared, or labelled where nothing is declared.
    async fn masters(&self) -> Result<Vec<String>, String> {
        let declared: Vec<String> =
            self.declared.with_role(Role::Master).map(|node| node.name.clone()).collect();
        if !declared.is_empty() {
            return Ok(declared);
        }
        let nodes = self.all::<Node>().await?;
        Ok(nodes.iter().filter(|node| node.has_role("master")).map(kube::ResourceExt::name_any).collect())
    }

    async fn control_plane(&self) -> Result<Outcome, String> {
        let parts = [
            PodsOf {
                component: "etcd",
                pods: self.pods("openshift-etcd").await?,
                status: self.status::<Etcd>().await?,
            },
            PodsOf {
                component: "kube-apiserver",
                pods: self.pods("openshift-kube-apiserver").await?,
                status: self.status::<KubeApiServer>().await?,
            },
            PodsOf {
                component: "kube-controller-manager",
                pods: self.pods("openshift-kube-controller-manager").await?,
                status: self.status::<KubeControllerManager>().await?,
            },
            PodsOf {
                component: "kube-scheduler",
                pods: self.pods("openshift-kube-scheduler").await?,
                status: self.status::<KubeScheduler>().await?,
            },
        ];
        Ok(judge_control_plane(&self.masters().await?, &parts))
    }

    async fn console(&self) -> Result<Outcome, String> {
        let Some(route) = self.get::<Route>("openshift-console", "console").await? else {
            return Ok(Outcome::skipped("console", "this cluster has no console"));
        };
        const FIX: &str = "resolve the name, dial 443 of the ingress address, look at the router pods: oc -n openshift-ingress get pods -o wide";
        let Some(url) = route.url() else {
            return Ok(Outcome::failed("console", vec!["no router serves its route".to_owned()], FIX));
        };
        let ca = self.get::<ConfigMap>("openshift-config-managed", "default-ingress-cert").await?;
        let ca = ca.as_ref().and_then(|map| map.get("ca-bundle.crt")).unwrap_or_default();
        let mut config = Config::new(url.parse().map_err(|error: http::uri::InvalidUri| error.to_string())?);
        config.root_cert =
            pem::decode(ca).ok().map(|blocks| blocks.into_iter().map(|block| block.der).collect());
        config.connect_timeout = Some(self.patience);
        let client = Client::try_from(config).map_err(|error| sentence(&error))?;
        let request = http::Request::get("/").body(Vec::new()).map_err(|error| error.to_string())?;
        Ok(match self.within(client.request_text(request)).await {
            Ok(_) => Outcome::passed("console", format!("{url} answers")),
            Err(error) => Outcome::failed("console", vec![format!("{url}: {error}")], FIX),
        })
    }

    async fn registry(&self) -> Result<Option<Value>, String> {
        let kind = GroupVersionKind::gvk("imageregistry.operator.openshift.io", "v1", "Config");
        let resource = ApiResource::from_gvk_with_plural(&kind, "configs");
        let api: Api<DynamicObject> = Api::all_with(self.client()?, &resource);
        Ok(self.optional(api.get_opt("cluster")).await?.map(|object| object.data))
    }

    async fn workload(&self) -> Vec<Outcome> {
        let Some(image) = &self.image else {
            let why = "which image to run is not known: --image names one";
            return ["workload", "logs", "exec"].map(|check| Outcome::skipped(check, why)).into();
        };
        let client = match self.client() {
            Ok(client) => client,
            Err(why) => return vec![Outcome::failed("workload", vec![why], "does the API answer?")],
        };
        let suffix = format!("{:x}", self.now.as_millisecond());
        let workload = Workload { client, image: image.clone(), suffix, patience: self.pod_patience };
        let mut outcomes = workload.check(|check| self.wants(check)).await;
        outcomes.retain(|outcome| self.wants(outcome.check));
        outcomes
    }

    async fn pods(&self, namespace: &str) -> Result<Vec<Pod>, String> {
        let api: Api<Pod> = Api::namespaced(self.client()?, namespace);
        Ok(self.within(api.list(&ListParams::default())).await?.items)
    }

    async fn status<K>(&self) -> Result<Option<StaticPodStatus>, String>
    where
        K: StaticPodOperator
            + Resource<DynamicType = (), Scope = ClusterResourceScope>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let api: Api<K> = Api::all(self.client()?);
        Ok(self.optional(api.get_opt("cluster")).await?.map(|object| object.status().clone()))
    }

    async fn all<K>(&self) -> Result<Vec<K>, String>
    where
        K: Resource<DynamicType = (), Scope = ClusterResourceScope> + Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::all(self.client()?);
        Ok(self.within(api.list(&ListParams::default())).await?.items)
    }

    async fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, String>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client()?, namespace);
        self.optional(api.get_opt(name)).await
    }

    fn client(&self) -> Result<Client, String> {
        Client::try_from(self.config.clone()).map_err(|error| sentence(&error))
    }

    async fn optional<T>(
        &self,
        asked: impl Future<Output = kube::Result<Option<T>>>,
    ) -> Result<Option<T>, String> {
        self.within(async { unless_absent(asked.await) }).await
    }

    async fn within<T>(&self, asked: impl Future<Output = kube::Result<T>>) -> Result<T, String> {
        match timeout(self.patience, asked).await {
            Ok(answer) => answer.map_err(|error| sentence(&error)),
            Err(_) => Err(format!("no answer within {} s", self.patience.as_secs())),
        }
    }
}
