//! Asks the cluster, and has the answers judged.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::net::IpAddr;
use std::time::Duration;

use hardway_assets::inventory::Role;
use hardway_base::Verdict;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Config, ResourceExt as _};
use serde_json::Value;

use super::certificates::{Presented, judge_certificates};
use super::control_plane::{PodsOf, judge_control_plane, judge_etcd, judge_operators};
use super::leftovers::judge_requests;
use super::nodes::judge_nodes;
use super::outcome::{Check, VerifyOutcome};
use super::questions::AskError;
use super::surroundings::{ResolvedName, judge_names, judge_registry};
use super::workload::Workload;
use crate::certificates::{KnownCertificate, of_annotations};
use crate::declared::Declared;
use crate::etcd::{EtcdAccess, ask_members};
use crate::handshake::{self, Trust};
use crate::objects::{ClusterVersion, Etcd, KubeApiServer, KubeControllerManager, KubeScheduler, Node};

const API_FIX: &str = "check that the address in the kubeconfig is reachable from this host: DNS, load balancer, port 6443; \
 `hardway diagnose` finds out more";

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
    /// The test pod's image; without one that check is left out.
    pub image: Option<String>,
    /// By the clock of this host.
    pub now: Timestamp,
    /// Checks that are not wanted.
    pub skip: BTreeSet<Check>,
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
    /// A name that nobody has, and that must not resolve.
    pub absent: Vec<String>,
    /// Where masters themselves serve the API.
    pub api_port: u16,
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
    /// Runs every check that is wanted, in order.
    pub async fn run(&self) -> Vec<VerifyOutcome> {
        self.run_telling(|_| {}).await
    }

    /// The same, and tells which check begins.
    pub async fn run_telling(&self, mut begins: impl FnMut(Check)) -> Vec<VerifyOutcome> {
        let mut outcomes = Vec::new();
        let mut answers = true;
        for check in Check::ALL {
            if !self.wants(check) {
                outcomes.push(VerifyOutcome::skipped(check, "not wanted"));
                continue;
            }
            begins(check);
            match check {
                // Come with the workload.
                _ if check.needs_pod() && self.wants(Check::Workload) && answers => {}
                _ if check.needs_pod() && answers => outcomes.push(VerifyOutcome::skipped(
                    check,
                    "needs the pod of the check workload, which was skipped",
                )),
                // What has one cause is said once.
                _ if !answers && check.needs_api() => {
                    outcomes.push(VerifyOutcome::skipped(check, "the API does not answer"));
                }
                Check::Api => {
                    let outcome = self.api().await;
                    answers = outcome.judged.verdict == Verdict::Passed;
                    outcomes.push(outcome);
                }
                Check::Certificates if !answers => {
                    outcomes.push(judge_certificates(self.now, &self.presented().await, &[]));
                }
                Check::Workload => outcomes.extend(self.workload().await),
                _ => outcomes.push(self.one(check).await.unwrap_or_else(|why| match answers {
                    true => VerifyOutcome::failed(check, vec![why.to_string()], API_FIX),
                    false => VerifyOutcome::skipped(check, "the API does not answer"),
                })),
            }
        }
        outcomes.sort_by_key(|outcome| outcome.check);
        outcomes
    }

    /// Takes away what a run that was cut off left in the cluster.
    pub async fn clean_up(&self) -> Result<(), AskError> {
        self.test_workload(self.client()?, String::new()).clean_up().await
    }

    async fn api(&self) -> VerifyOutcome {
        let asked = async { self.within(self.client()?.apiserver_version()).await };
        let url = &self.config.cluster_url;
        match asked.await {
            Ok(version) => VerifyOutcome::passed(Check::Api, format!("{url} is {}", version.git_version)),
            Err(why) => VerifyOutcome::failed(Check::Api, vec![format!("{url}: {why}")], API_FIX),
        }
    }

    fn wants(&self, check: Check) -> bool {
        !self.skip.contains(&check)
    }

    async fn one(&self, check: Check) -> Result<VerifyOutcome, AskError> {
        Ok(match check {
            Check::Names => {
                let absent = self.surroundings.absent.iter().map(|name| (name.clone(), Vec::new()));
                let absent: Vec<_> = absent.collect();
                judge_names(&self.names(&self.surroundings.names).await, &self.names(&absent).await)
            }
            Check::Certificates => {
                judge_certificates(self.now, &self.presented().await, &self.secrets().await?)
            }
            Check::Nodes => {
                let version = self.within(self.client()?.apiserver_version()).await?;
                judge_nodes(&self.declared, &self.all::<Node>().await?, &version.git_version)
            }
            Check::Operators => {
                let versions = self.all::<ClusterVersion>().await?;
                let version = versions.iter().find(|version| version.name_any() == "version");
                judge_operators(version, &self.all().await?)
            }
            Check::ControlPlane => self.control_plane().await?,
            Check::Masters => self.ask_masters().await?,
            Check::Balancer => self.balancer().await?,
            Check::Requests => judge_requests(self.now, &self.all().await?),
            Check::Leftovers => self.leftovers().await?,
            Check::Etcd => {
                let masters = self.masters().await?.len();
                match &self.etcd {
                    None => VerifyOutcome::skipped(
                        Check::Etcd,
                        "there is no etcd client certificate in the working folder",
                    ),
                    Some(access) => judge_etcd(masters, ask_members(access).await.as_deref()),
                }
            }
            Check::Console => self.console().await?,
            Check::ImageRegistry => judge_registry(self.registry().await?.as_ref()),
            Check::Api => self.api().await,
            // They come from one pod, and not one by one.
            Check::Workload | Check::Logs | Check::Exec | Check::Service | Check::Dns | Check::Route => {
                VerifyOutcome::skipped(check, "no pod runs")
            }
        })
    }

    async fn names(&self, wanted: &[(String, Vec<IpAddr>)]) -> Vec<ResolvedName> {
        let mut names = Vec::new();
        for (name, expected) in wanted {
            names.push(ResolvedName::ask(name.clone(), expected.clone(), self.patience).await);
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

    /// Only their metadata: the operators write into annotations when a certificate ends.
    async fn secrets(&self) -> Result<Vec<KnownCertificate>, AskError> {
        let secrets: Api<Secret> = Api::all(self.client()?);
        let listed = self.within(secrets.list_metadata(&ListParams::default())).await?;
        Ok(listed.items.iter().filter_map(|secret| of_annotations(&secret.metadata)).collect())
    }

    /// Declared, or labelled where nothing is declared.
    async fn masters(&self) -> Result<Vec<String>, AskError> {
        let declared: Vec<String> =
            self.declared.with_role(Role::Master).map(|node| node.name.clone()).collect();
        if !declared.is_empty() {
            return Ok(declared);
        }
        let nodes = self.all::<Node>().await?;
        Ok(nodes.iter().filter(|node| node.has_role("master")).map(kube::ResourceExt::name_any).collect())
    }

    async fn control_plane(&self) -> Result<VerifyOutcome, AskError> {
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

    async fn registry(&self) -> Result<Option<Value>, AskError> {
        let kind = GroupVersionKind::gvk("imageregistry.operator.openshift.io", "v1", "Config");
        let resource = ApiResource::from_gvk_with_plural(&kind, "configs");
        let api: Api<DynamicObject> = Api::all_with(self.client()?, &resource);
        Ok(self.optional(api.get_opt("cluster")).await?.map(|object| object.data))
    }

    async fn workload(&self) -> Vec<VerifyOutcome> {
        let Some(image) = &self.image else {
            let why = "not checked: no image for the test pod: pass one with --image";
            let checks =
                Check::ALL.into_iter().filter(|check| *check == Check::Workload || check.needs_pod());
            let wanted = checks.filter(|check| self.wants(*check));
            return wanted.map(|check| VerifyOutcome::skipped(check, why)).collect();
        };
        let client = match self.client() {
            Ok(client) => client,
            Err(why) => return vec![VerifyOutcome::failed(Check::Workload, vec![why.to_string()], API_FIX)],
        };
        let mut outcomes = self.test_workload(client, image.clone()).check(|check| self.wants(check)).await;
        outcomes.retain(|outcome| self.wants(outcome.check));
        outcomes
    }

    fn test_workload(&self, client: Client, image: String) -> Workload {
        let suffix = format!("{:x}", self.now.as_millisecond());
        Workload {
            client,
            image,
            suffix,
            names: self.surroundings.names.clone(),
            absent: self.surroundings.absent.clone(),
            patience: self.pod_patience,
            answer_patience: self.patience,
        }
    }
}
