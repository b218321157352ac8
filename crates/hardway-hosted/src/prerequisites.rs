//! What a management cluster must have before hosted workers can come: looked at, and judged row by row.

use std::time::Duration;

use hardway_base::Judged;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::storage::v1::StorageClass;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde::Serialize;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::error::HostedError;
use crate::management::Management;
use crate::objects::HostedCluster;

/// How long an address is given to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// HyperShift's own kinds, in the version that is read here.
const KINDS: [&str; 2] = ["hostedclusters", "nodepools"];
const VERSION: &str = "v1beta1";

/// One thing that must be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prerequisite {
    /// In a word.
    pub name: &'static str,
    /// How it is.
    #[serde(flatten)]
    pub judged: Judged,
}

impl Management {
    /// Looks at everything, in the order in which it is needed.
    ///
    /// # Errors
    /// When the API server does not answer at all.
    pub async fn prerequisites(&self) -> Result<Vec<Prerequisite>, HostedError> {
        let row = |name, judged| Prerequisite { name, judged };
        let cluster = match self.kinds().await? {
            wrong if !wrong.is_empty() => {
                let fix = "install HyperShift: hypershift install";
                return Ok(vec![row("kinds", Judged::failed(wrong, fix))]);
            }
            _ => self.hosted_cluster().await?,
        };
        let mut rows = vec![row("kinds", Judged::passed(format!("HostedCluster and NodePool at {VERSION}")))];
        rows.push(row("operator", self.operator().await?));
        rows.push(row("storage", self.storage().await?));
        let Some(cluster) = cluster else {
            let what = format!("there is no HostedCluster {} in namespace {}", self.cluster, self.namespace);
            let fix = "make one: hardway hosted cluster create NAME --external-api-server-address ADDRESS --release-image \
                       PULLSPEC --pull-secret FILE";
            rows.push(row("hosted-cluster", Judged::failed(vec![what], fix)));
            return Ok(rows);
        };
        rows.push(row("hosted-cluster", platform(&cluster)));
        rows.push(row("pull-secret", self.logins().await));
        rows.push(row("ignition", reached(cluster.status.ignition_endpoint.as_deref()).await));
        rows.push(row("konnectivity", konnectivity(&cluster).await));
        Ok(rows)
    }

    /// What is wrong with HyperShift's kinds.
    async fn kinds(&self) -> Result<Vec<String>, HostedError> {
        let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let kind = ApiResource::from_gvk_with_plural(&kind, "customresourcedefinitions");
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind);
        let mut wrong = Vec::new();
        for plural in KINDS {
            let name = format!("{plural}.hypershift.openshift.io");
            let what = || HostedError::api(format!("CustomResourceDefinition {name}"));
            let Some(found) = api.get_opt(&name).await.map_err(what())? else {
                wrong.push(format!("there is no CustomResourceDefinition {name}"));
                continue;
            };
            let versions = found.data["spec"]["versions"].as_array().cloned().unwrap_or_default();
            if !versions.iter().any(|version| version["name"] == VERSION && version["served"] == true) {
                wrong.push(format!("{name} is not served at {VERSION}"));
            }
        }
        Ok(wrong)
    }

    /// It may run elsewhere, or under another name.
    async fn operator(&self) -> Result<Judged, HostedError> {
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), "hypershift");
        let found =
            api.get_opt("operator").await.map_err(HostedError::api("Deployment hypershift/operator"))?;
        let ready = found.as_ref().and_then(|found| found.status.as_ref()?.available_replicas).unwrap_or(0);
        let fix = "without it NodePools get no config; where it runs under another name, nothing is wrong";
        Ok(match found {
            Some(_) if ready > 0 => {
                Judged::passed(format!("Deployment hypershift/operator has {ready} pods"))
            }
            Some(_) => Judged::failed(
                vec!["Deployment hypershift/operator has no pod that is available".to_owned()],
                fix,
            ),
            None => Judged::warned(vec!["there is no Deployment hypershift/operator".to_owned()], fix),
        })
    }

    async fn storage(&self) -> Result<Judged, HostedError> {
        const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
        let api: Api<StorageClass> = Api::all(self.client.clone());
        let all = api.list(&ListParams::default()).await.map_err(HostedError::api("StorageClasses"))?;
        let is_default = |class: &&StorageClass| {
            let annotations = class.metadata.annotations.as_ref();
            annotations.and_then(|all| all.get(DEFAULT)).is_some_and(|value| value == "true")
        };
        let fix = "etcd of the control plane needs a volume: mark one as default, or name one with --etcd-storage-class when the \
                   HostedCluster is created";
        Ok(match all.items.iter().find(is_default).and_then(|class| class.metadata.name.clone()) {
            Some(name) => Judged::passed(format!("the default StorageClass is {name}")),
            None => Judged::warned(vec!["there is no default StorageClass".to_owned()], fix),
        })
    }

    async fn logins(&self) -> Judged {
        match self.pull_secret().await {
            Ok(_) => Judged::passed("it has logins of registries"),
            Err(error) => {
                Judged::failed(vec![error.to_string()], "create the Secret that spec.pullSecret names")
            }
        }
    }
}

fn platform(cluster: &HostedCluster) -> Judged {
    match cluster.spec.platform.r#type.as_str() {
        "None" => Judged::passed(format!("platform None, release {}", cluster.spec.release.image)),
        other => {
            let what = format!("its platform is {other:?}");
            Judged::failed(vec![what], "on other platforms HyperShift makes the machines itself")
        }
    }
}

async fn konnectivity(cluster: &HostedCluster) -> Judged {
    let service = cluster.spec.services.iter().find(|service| service.service == "Konnectivity");
    let port = service.and_then(|service| service.service_publishing_strategy.node_port.as_ref());
    match port.map(|published| (&published.address, published.port)) {
        Some((address, Some(port))) => reached(Some(&format!("{address}:{port}"))).await,
        Some((_, None)) => Judged::not_applicable("its NodePort is allocated by the management cluster"),
        None => Judged::not_applicable("it is not published by a NodePort"),
    }
}

/// From this host, which need not be where workers are.
async fn reached(endpoint: Option<&str>) -> Judged {
    let Some(endpoint) = endpoint.filter(|endpoint| !endpoint.is_empty()) else {
        return Judged::not_applicable("it is not known yet");
    };
    let address = if endpoint.contains(':') { endpoint.to_owned() } else { format!("{endpoint}:443") };
    let why = match timeout(PATIENCE, TcpStream::connect(&address)).await {
        Ok(Ok(_)) => return Judged::passed(format!("{address} answers, from this host")),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer in {} s", PATIENCE.as_secs()),
    };
    let fix = "workers must reach it; this host need not, but then look from where they are: curl -k https://ADDRESS:PORT/healthz";
    Judged::warned(vec![format!("{address}: {why}")], fix)
}
