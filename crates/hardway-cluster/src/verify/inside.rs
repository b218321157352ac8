//! The checks `service`, `dns` and `route`: a second pod asks the first one, and so does this host, through the routers.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use http::Request;
use http::uri::InvalidUri;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::Config;
use kube::api::{Api, ApiResource, DynamicObject, LogParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::console::authorities;
use super::outcome::{Check, VerifyOutcome};
use super::pod_view::{self, Answers};
use super::questions::AskError;
use super::workload::{LABEL, POD, PORT, SAID, SERVES, Workload, object};
use crate::api_error::{sentence, unless_absent};
use crate::kubeconfig::without_retries;
use crate::objects::{self, ConfigMap, Route};

/// Those that need a second pod or a way in, in their order.
pub(super) const CHECKS: [Check; 3] = [Check::Service, Check::Dns, Check::Route];

const CLIENT: &str = "hardway-verify-client";
const BETWEEN: Duration = Duration::from_millis(500);
/// A page is looked for as often, a second apart: a program that serves takes a moment to start, and a router to take up a route.
const TRIES: u32 = 20;

/// Why one of them has no verdict of its own.
#[derive(Debug, thiserror::Error)]
enum InsideError {
    #[error("the Service was refused: {0}")]
    Service(AskError),
    #[error("the Service has no address")]
    NoAddress,
    #[error("the second pod was refused: {0}")]
    Refused(AskError),
    #[error("the second pod is {phase} after {} s{why}", after.as_secs())]
    Endless { phase: String, after: Duration, why: String },
    #[error("{}", .0.join("; "))]
    Made(Vec<String>),
    #[error(transparent)]
    Ask(#[from] AskError),
}

impl Workload {
    /// Once the first pod runs.
    pub(super) async fn inside(&self, namespace: &str, wants: impl Fn(Check) -> bool) -> Vec<VerifyOutcome> {
        const FIX: &str = "check `oc get events -A`";
        let mut outcomes = Vec::new();
        let failed =
            |check, why: &dyn std::fmt::Display| VerifyOutcome::failed(check, vec![why.to_string()], FIX);
        let address = match self.service(namespace).await {
            Ok(address) => address,
            Err(why) => {
                return CHECKS
                    .into_iter()
                    .filter(|check| wants(*check))
                    .map(|check| failed(check, &why))
                    .collect();
            }
        };
        let names = match wants(Check::Dns) {
            true => self.pod_names().await.unwrap_or_else(|why| Err(failed(Check::Dns, &why))),
            false => Ok(Vec::new()),
        };
        let (names, mut no_names) = match names {
            Ok(names) => (names, None),
            Err(outcome) => (Vec::new(), Some(outcome)),
        };
        if wants(Check::Service) || !names.is_empty() {
            let nobody = self.nobody(namespace);
            match self.ask(namespace, &address, &names, &nobody).await {
                Ok(Ok(answers)) => {
                    if wants(Check::Service) {
                        outcomes.push(pod_view::judge_service(&address, SAID, &answers));
                    }
                    if !names.is_empty() {
                        outcomes.push(pod_view::judge_dns(&names, &nobody, &answers));
                    }
                }
                Ok(Err(why)) => {
                    let checks = [(Check::Service, wants(Check::Service)), (Check::Dns, !names.is_empty())];
                    let checks = checks.into_iter().filter(|(_, wanted)| *wanted);
                    outcomes.extend(checks.map(|(check, _)| VerifyOutcome::skipped(check, why.clone())));
                }
                Err(why) => {
                    if wants(Check::Service) {
                        outcomes.push(failed(Check::Service, &why));
                    }
                    if !names.is_empty() {
                        no_names = Some(VerifyOutcome::skipped(
                            Check::Dns,
                            "not checked: the second pod did not run",
                        ));
                    }
                }
            }
        }
        outcomes.extend(no_names);
        if wants(Check::Route) {
            outcomes.push(self.route(namespace).await);
        }
        outcomes
    }

    /// Its address.
    async fn service(&self, namespace: &str) -> Result<String, InsideError> {
        let made = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": POD, "labels": {LABEL: "true"}},
            "spec": {"selector": {SERVES: "true"}, "ports": [{"name": "http", "port": 80, "targetPort": PORT}]}});
        let made: Service = object(made).map_err(InsideError::Made)?;
        let services: Api<Service> = Api::namespaced(self.client.clone(), namespace);
        let made = self
            .within(services.create(&PostParams::default(), &made))
            .await
            .map_err(InsideError::Service)?;
        made.spec.and_then(|spec| spec.cluster_ip).ok_or(InsideError::NoAddress)
    }

    /// What must resolve in a pod, or why that cannot be asked here.
    async fn pod_names(&self) -> Result<Result<Vec<(String, Vec<IpAddr>)>, VerifyOutcome>, AskError> {
        let dns: Api<Service> = Api::namespaced(self.client.clone(), "openshift-dns");
        if self.within(async { unless_absent(dns.get_opt("dns-default").await) }).await?.is_none() {
            let why =
                "not checked: this cluster has no name server of its own (service openshift-dns/dns-default)";
            return Ok(Err(VerifyOutcome::skipped(Check::Dns, why)));
        }
        let services: Api<Service> = Api::namespaced(self.client.clone(), "default");
        let own = self.within(services.get("kubernetes")).await?.spec.and_then(|spec| spec.cluster_ips);
        let own = own.unwrap_or_default().iter().filter_map(|ip| ip.parse().ok()).collect();
        let mut names = vec![("kubernetes.default.svc.cluster.local".to_owned(), own)];
        names.extend(self.names.iter().cloned());
        Ok(Ok(names))
    }

    fn nobody(&self, namespace: &str) -> Vec<String> {
        let mut nobody = vec![format!("hardway-verify-nobody.{namespace}.svc.cluster.local")];
        nobody.extend(self.absent.iter().cloned());
        nobody
    }

    /// The answers of the second pod; or, in the inner error, why they cannot be known.
    async fn ask(
        &self,
        namespace: &str,
        address: &str,
        names: &[(String, Vec<IpAddr>)],
        nobody: &[String],
    ) -> Result<Result<Answers, String>, InsideError> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let place = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
        let text = |names: Vec<&str>| names.join(" ");
        let environment = BTreeMap::from([
            ("URL", format!("http://{place}/hardway/")),
            ("TRIES", TRIES.to_string()),
            ("NAMES", text(names.iter().map(|(name, _)| name.as_str()).collect())),
            (
                "NOBODY",
                if names.is_empty() {
                    String::new()
                } else {
                    text(nobody.iter().map(String::as_str).collect())
                },
            ),
        ]);
        let mut pod = self.pod(CLIENT, pod_view::ASK, &environment);
        // On another node than the first, where there are two: most of what can go wrong is between nodes.
        pod["spec"]["affinity"] = json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1,
            "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {SERVES: "true"}}}}]}});
        let pod: Pod = object(pod).map_err(InsideError::Made)?;
        self.within(pods.create(&PostParams::default(), &pod)).await.map_err(InsideError::Refused)?;
        self.ended(namespace).await?;
        Ok(match self.within(pods.logs(CLIENT, &LogParams::default())).await {
            Ok(log) => pod_view::read(&log)
                .ok_or_else(|| "not checked: the log of the second pod has no end".to_owned()),
            Err(why) => Err(format!("not checked: the log of the second pod cannot be read: {why}")),
        })
    }

    async fn ended(&self, namespace: &str) -> Result<(), InsideError> {
        let watched: Api<objects::Pod> = Api::namespaced(self.client.clone(), namespace);
        let end = Instant::now() + self.patience;
        loop {
            let pod = self.within(watched.get(CLIENT)).await?;
            let phase = pod.status.phase.clone().unwrap_or_default();
            if matches!(phase.as_str(), "Succeeded" | "Failed") {
                return Ok(());
            }
            if Instant::now() >= end {
                let why: Vec<String> = super::workload::in_the_way(&pod);
                let why = why.iter().map(|why| format!("; {why}")).collect();
                return Err(InsideError::Endless { phase, after: self.patience, why });
            }
            sleep(BETWEEN).await;
        }
    }

    /// From this host, as people come: by name, through the load balancer and a router, at both ports.
    async fn route(&self, namespace: &str) -> VerifyOutcome {
        const FIX: &str = "check that *.apps leads to the load balancer, that its ports 80 and 443 lead to the hosts of the routers, and \
         that these run: oc -n openshift-ingress get pods -o wide";
        let host = match self.admitted(namespace).await {
            Ok(Some(host)) => host,
            Ok(None) => {
                return VerifyOutcome::skipped(
                    Check::Route,
                    "not checked: this cluster does not serve Routes",
                );
            }
            Err(why) => return VerifyOutcome::failed(Check::Route, vec![why], FIX),
        };
        let mut wrong = Vec::new();
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}");
            let mut last = Ok(());
            for attempt in 0..TRIES {
                last = self.page(&url).await;
                if last.is_ok() {
                    break;
                }
                if attempt + 1 < TRIES {
                    sleep(BETWEEN * 2).await;
                }
            }
            wrong.extend(last.err().map(|why| format!("{url}: {why}")));
        }
        let good = format!("the test pod answers at http://{host} and https://{host}");
        VerifyOutcome::of(Check::Route, wrong, FIX, good)
    }

    /// The host of a route that a router has taken up; none where nobody knows what a route is.
    async fn admitted(&self, namespace: &str) -> Result<Option<String>, String> {
        let kind = GroupVersionKind::gvk("route.openshift.io", "v1", "Route");
        let resource = ApiResource::from_gvk_with_plural(&kind, "routes");
        let routes: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &resource);
        let made = json!({"apiVersion": "route.openshift.io/v1", "kind": "Route",
            "metadata": {"name": POD, "labels": {LABEL: "true"}},
            "spec": {"to": {"kind": "Service", "name": POD, "weight": 100}, "port": {"targetPort": "http"},
                "tls": {"termination": "edge", "insecureEdgeTerminationPolicy": "Allow"}}});
        let made: DynamicObject = object(made).map_err(|why| why.join("; "))?;
        match self.within(routes.create(&PostParams::default(), &made)).await {
            Ok(_) => {}
            Err(AskError::Api(error)) if matches!(&*error, kube::Error::Api(status) if status.code == 404) => {
                return Ok(None);
            }
            Err(why) => return Err(format!("the Route was refused: {why}")),
        }
        let watched: Api<Route> = Api::namespaced(self.client.clone(), namespace);
        let end = Instant::now() + self.patience;
        loop {
            let route = self.within(watched.get(POD)).await.map_err(|why| why.to_string())?;
            if let Some(url) = route.url() {
                return Ok(url.split_once("://").map(|(_, host)| host.to_owned()));
            }
            if Instant::now() >= end {
                return Err(format!("no router has taken up the Route after {} s", self.patience.as_secs()));
            }
            sleep(BETWEEN).await;
        }
    }

    async fn page(&self, place: &str) -> Result<(), String> {
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), "openshift-config-managed");
        let map = self.within(async { unless_absent(maps.get_opt("default-ingress-cert").await) }).await;
        let mut config = Config::new(place.parse().map_err(|error: InvalidUri| error.to_string())?);
        config.root_cert = authorities(map.map_err(|why| why.to_string())?.as_ref());
        config.connect_timeout = Some(self.answer_patience);
        let client = without_retries(&config).map_err(|error| sentence(&error))?;
        let request = Request::get("/hardway/").body(Vec::new()).map_err(|error| error.to_string())?;
        let asked = tokio::time::timeout(self.answer_patience, client.request_text(request)).await;
        match asked {
            Err(_) => Err(format!("no answer within {} s", self.answer_patience.as_secs())),
            Ok(Err(kube::Error::Api(status))) => Err(format!("it says {}", status.code)),
            Ok(Err(error)) => Err(sentence(&error)),
            Ok(Ok(text)) if text.contains(SAID) => Ok(()),
            Ok(Ok(_)) => Err("somebody else answers there".to_owned()),
        }
    }
}
