//! Collecting evidence, from both clusters. What cannot be asked is not known; nothing is guessed from that.

use std::collections::BTreeMap;

use hardway_assets::pki::inspect;
use hardway_cluster::kubeconfig::without_retries;
use http::Request;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::{self, Node, Service};
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Config};

use super::evidence::{Evidence, PendingRequest, PoolEvidence, Probe};
use crate::config_watch::ConfigWatch;
use crate::error::HostedError;
use crate::gates::{GateFacts, gates, secret_of};
use crate::management::Management;
use crate::names;
use crate::node_view::NodeView;
use crate::objects::{HostedCluster, NodePool};
use crate::ovn::{self, OvnFacts};
use crate::pointer::Pointer;
use crate::token::TokenSecret;

impl Evidence {
    /// Asks the management cluster, and the hosted one if it can be reached.
    ///
    /// # Errors
    /// When the management cluster does not answer.
    pub async fn collect(
        management: &Management,
        hosted: Option<&Client>,
        logs: Vec<String>,
        now: Timestamp,
    ) -> Result<Self, HostedError> {
        let cluster = management.hosted_cluster().await?;
        let listed = management.control_plane_api::<v1::Secret>().list(&ListParams::default()).await;
        let secrets = listed.map_err(HostedError::api("Secrets of the control plane"))?.items;
        let text = |name: &str, key: &str| {
            let secret = secrets.iter().find(|secret| secret.metadata.name.as_deref() == Some(name))?;
            String::from_utf8(secret.data.as_ref()?.get(key)?.0.clone()).ok()
        };
        let certificate = |name: &str| {
            text(name, "tls.crt")
                .and_then(|pem| inspect(&pem).ok())
                .and_then(|mut all| (!all.is_empty()).then(|| all.remove(0)))
        };
        let authority = text(names::IGNITION_CA, "tls.crt");
        let endpoint = cluster.as_ref().and_then(|cluster| cluster.status.ignition_endpoint.clone());
        let machines = machines(management).await;
        let pools = management
            .node_pools()
            .await?
            .into_iter()
            .map(|pool| of_pool(pool, cluster.as_ref(), &secrets, authority.as_deref(), &machines, now));
        let (nodes, pending) = match hosted {
            Some(client) => of_hosted(client).await.unwrap_or_default(),
            None => Default::default(),
        };
        Ok(Self {
            now,
            pools: pools.collect(),
            workers: management.workers().await?.0,
            nodes,
            pending,
            probe: probe(endpoint.as_deref(), authority.as_deref()).await,
            endpoint,
            served_names: certificate("ignition-server-serving-cert").map(|facts| facts.sans),
            bootstrap_expires: certificate("kas-bootstrap-client").map(|facts| facts.not_after),
            ovn: OvnFacts::collect(management, cluster.as_ref(), now).await?,
            logs,
        })
    }
}

fn of_pool(
    pool: NodePool,
    cluster: Option<&HostedCluster>,
    secrets: &[v1::Secret],
    authority: Option<&str>,
    machines: &BTreeMap<String, Vec<String>>,
    now: Timestamp,
) -> PoolEvidence {
    let key = pool.key();
    let name = pool.metadata.name.clone().unwrap_or_default();
    let of = |name: String| secret_of(secrets, &pool, &name);
    let hash = pool.config_hash();
    let user_data = hash.and_then(|hash| of(names::user_data_secret(&name, hash)));
    let token = hash.and_then(|hash| of(names::token_secret(&name, hash))).and_then(TokenSecret::read);
    let value = user_data.and_then(|secret| secret.data.as_ref()).and_then(|data| data.get("value"));
    let pointer_flaws = match (value, &token) {
        (Some(value), Some(token)) => match Pointer::read(&value.0) {
            Ok(pointer) => pointer.flaws(token, authority),
            Err(flaw) => vec![flaw],
        },
        _ => Vec::new(),
    };
    let made = user_data.and_then(|secret| secret.metadata.creation_timestamp.as_ref()).map(|time| time.0);
    let mut config = ConfigWatch::default();
    config.see(hash, made, now);
    let rest = crate::config_watch::REST;
    let gates = gates(&GateFacts { cluster, pool: &pool, user_data, config: &config, rest, now });
    let tokens =
        secrets.iter().filter_map(TokenSecret::read).filter(|token| token.node_pool == key).collect();
    PoolEvidence {
        gates,
        tokens,
        pointer_flaws,
        machines: machines.get(&key).cloned().unwrap_or_default(),
        pool,
    }
}

/// Machines by the pool they name; none where there is no such kind.
async fn machines(management: &Management) -> BTreeMap<String, Vec<String>> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("cluster.x-k8s.io", "v1beta1", "Machine"));
    let api: Api<DynamicObject> =
        Api::namespaced_with(management.client.clone(), &management.control_plane(), &kind);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for machine in api.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default() {
        if let Some(pool) = machine.metadata.annotations.as_ref().and_then(|all| all.get(names::NODE_POOL)) {
            found.entry(pool.clone()).or_default().extend(machine.metadata.name.clone());
        }
    }
    found
}

type Hosted = (BTreeMap<String, NodeView>, Vec<PendingRequest>);

async fn of_hosted(client: &Client) -> kube::Result<Hosted> {
    let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?;
    let nodes = nodes.items.iter().map(NodeView::of).map(|node| (node.name.clone(), node)).collect();
    let requests = Api::<CertificateSigningRequest>::all(client.clone()).list(&ListParams::default()).await?;
    let pending = requests.items.iter().filter_map(|object| {
        let request =
            hardway_cluster::csr_policy::Examined::new(hardway_cluster::csr_policy::Request::of(object));
        let is_pending = request.request.state == hardway_cluster::csr_policy::RequestState::Pending;
        (is_pending && request.request.is_a_kubelets()).then(|| PendingRequest {
            name: request.request.name.clone(),
            node: request.node().unwrap_or_default().to_owned(),
            is_serving: request.request.is_serving(),
            created: request.request.created,
        })
    });
    Ok((nodes, pending.collect()))
}

/// Asks as a machine would: with the authority of the pointers, and nothing else.
async fn probe(endpoint: Option<&str>, authority: Option<&str>) -> Probe {
    let (Some(endpoint), Some(authority)) = (endpoint, authority) else { return Probe::NotAsked };
    let Ok(url) = format!("https://{endpoint}").parse() else { return Probe::NotAsked };
    let mut config = Config::new(url);
    let blocks = hardway_base::pem::decode(authority).unwrap_or_default();
    config.root_cert = Some(blocks.into_iter().map(|block| block.der).collect());
    config.connect_timeout = Some(std::time::Duration::from_secs(5));
    config.read_timeout = Some(std::time::Duration::from_secs(10));
    let asked = async {
        let client = without_retries(&config)?;
        let request = Request::get("/healthz").body(Vec::new()).map_err(kube::Error::HttpError)?;
        client.request_text(request).await
    };
    match asked.await {
        Ok(_) => Probe::Status(200),
        Err(kube::Error::Api(status)) => Probe::Status(status.code),
        Err(error) => Probe::Silent(hardway_cluster::api_error::sentence(&error)),
    }
}

impl OvnFacts {
    /// From the control plane's namespace.
    ///
    /// # Errors
    /// When the management cluster does not answer.
    pub async fn collect(
        management: &Management,
        cluster: Option<&HostedCluster>,
        now: Timestamp,
    ) -> Result<Self, HostedError> {
        let deployment = management.control_plane_api::<Deployment>().get_opt("ovnkube-control-plane").await;
        let service = management.control_plane_api::<Service>().get_opt("ovn-kubernetes-control-plane").await;
        let service = service.map_err(HostedError::api("Service ovn-kubernetes-control-plane"))?;
        let marks = service.and_then(|service| service.metadata.annotations).unwrap_or_default();
        let events = management
            .control_plane_api::<v1::Event>()
            .list(&ListParams::default().fields("reason=FailedMount"))
            .await;
        let events = events.map_err(HostedError::api("Events of the control plane"))?.items;
        let about = |event: &&v1::Event| {
            event.message.as_deref().is_some_and(|message| message.contains(ovn::SECRET))
        };
        let namespaces: Api<v1::Namespace> = Api::all(management.client.clone());
        // Whoever may not look does not know that there is none.
        let has_service_ca = !matches!(namespaces.get_opt("openshift-service-ca").await, Ok(None));
        let secret = management.secret(ovn::SECRET).await?;
        let annotations =
            cluster.and_then(|cluster| cluster.metadata.annotations.clone()).unwrap_or_default();
        let paused = cluster.and_then(|cluster| cluster.spec.paused_until.clone()).unwrap_or_default();
        Ok(Self {
            has_deployment: deployment
                .map_err(HostedError::api("Deployment ovnkube-control-plane"))?
                .is_some(),
            failed_mount: events.iter().find(about).and_then(|event| event.message.clone()),
            has_secret: secret.is_some(),
            ours_until: secret.as_ref().and_then(ours_until),
            is_marked: ovn::SERVING_CERT.iter().any(|mark| marks.contains_key(*mark)),
            has_service_ca,
            is_paused: paused == "true"
                || paused
                    .parse::<Timestamp>()
                    .is_ok_and(|until| until.duration_since(now) > SignedDuration::ZERO),
            is_pki_disabled: annotations.contains_key(names::DISABLE_PKI),
        })
    }
}

fn ours_until(secret: &v1::Secret) -> Option<Timestamp> {
    secret.metadata.annotations.as_ref()?.get(ovn::MADE_BY)?;
    let pem = String::from_utf8(secret.data.as_ref()?.get("tls.crt")?.0.clone()).ok()?;
    inspect(&pem).ok()?.first().map(|facts| facts.not_after)
}
