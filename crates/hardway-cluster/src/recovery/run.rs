//! Letting nodes that fell silent in again, once each.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt as _;
use kube::api::{Api, ListParams};
use tokio::time::{Instant, sleep, timeout};

use super::assessment::{Assessment, Heard, Standing};
use crate::api_error::{sentence, unless_absent};
use crate::approver::{Approver, ApproverError, REQUEST_LIMIT, Summary};
use crate::handshake::{self, Trust};
use crate::objects::ConfigMap;

/// Where kubelets renew their leases (kubernetes `pkg/apis/core/types.go` NamespaceNodeLease).
const LEASES: &str = "kube-node-lease";

/// Where kubelets serve.
const KUBELET: u16 = 10250;

/// Between looks at who is back.
const POLL: Duration = Duration::from_secs(2);

/// A recovery.
#[derive(Clone)]
pub struct Recovery {
    /// Who decides. Its settings get a permission to come again for every silent node without an identity of its own, for one
    /// certificate each; the others are to be in their next generation by then.
    pub approver: Approver,
    /// So long without a sign makes a node silent.
    pub silence: SignedDuration,
    /// Between the two looks that make sure of it. Longer than a kubelet takes to renew its lease, ten seconds.
    pub pause: Duration,
    /// So long must nothing be waiting at the end: after its client certificate, a kubelet asks for one to serve with.
    pub quiet: Duration,
    /// For a kubelet to show its certificate.
    pub patience: Duration,
    /// Where kubelets serve.
    pub kubelet_port: u16,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// What was decided.
    pub summary: Summary,
    /// Nodes that were silent and report again.
    pub back: Vec<String>,
    /// Nodes that are still silent.
    pub silent: Vec<String>,
}

impl Recovery {
    /// With the usual times.
    pub fn new(approver: Approver) -> Self {
        Self {
            approver,
            silence: SignedDuration::from_mins(2),
            pause: Duration::from_secs(12),
            quiet: Duration::from_secs(15),
            patience: Duration::from_secs(3),
            kubelet_port: KUBELET,
        }
    }

    /// Looks twice. Nothing is changed.
    ///
    /// # Errors
    /// When the API server does not answer.
    pub async fn assess(&self) -> Result<Assessment, ApproverError> {
        let before = self.heard().await?;
        let is_old = |heard: &Heard| {
            heard.last.is_none_or(|last| (self.approver.now)().duration_since(last) > self.silence)
        };
        if before.values().any(is_old) {
            sleep(self.pause).await;
        }
        let after = self.heard().await?;
        let requests: Api<CertificateSigningRequest> = Api::all(self.approver.client.clone());
        let requests = asked(requests.list(&ListParams::default())).await?.items;
        let now = (self.approver.now)();
        let mut found =
            Assessment::of(&self.approver.declared, &before, &after, &requests, now, self.silence);
        self.ask_kubelets(&mut found).await;
        Ok(found)
    }

    /// Whether the install got as far as a cluster that carries itself; the first certificates matter no more then.
    ///
    /// # Errors
    /// When the API server does not answer.
    pub async fn is_bootstrapped(&self) -> Result<bool, ApproverError> {
        let maps: Api<ConfigMap> = Api::namespaced(self.approver.client.clone(), "kube-system");
        let map = asked(async { unless_absent(maps.get_opt("bootstrap").await) }).await?;
        Ok(map.as_ref().and_then(|map| map.get("status")) == Some("complete"))
    }

    /// Decides about whatever comes until every silent node reports again and nothing waits any more, or until `stop`.
    ///
    /// # Errors
    /// When decisions cannot be recorded.
    pub async fn run(
        &self,
        found: &Assessment,
        stop: impl Future<Output = ()>,
    ) -> Result<Recovered, ApproverError> {
        let silent: BTreeSet<String> = found.silent().map(|one| one.node.clone()).collect();
        let mut approver = self.approver.clone();
        // Requests know only whole seconds: one that is made right after this must not look older.
        let now = (approver.now)();
        let given = now - SignedDuration::from_nanos(now.subsec_nanosecond().into());
        let declared = &approver.declared;
        let is_shared =
            |node: &&String| declared.node(node).is_some_and(|declared| declared.identity.is_none());
        approver.settings.rejoin.extend(silent.iter().filter(is_shared).map(|node| (node.clone(), given)));
        let last: BTreeMap<String, Option<Timestamp>> =
            found.silent().map(|one| (one.node.clone(), one.last_heard)).collect();
        let until = async {
            tokio::select! {
                () = stop => {}
                () = self.settled(&last) => {}
            }
        };
        let summary = approver.watch(until).await?;
        let back = self.back(&last).await.unwrap_or_default();
        let silent = silent.difference(&back).cloned().collect();
        Ok(Recovered { summary, back: back.into_iter().collect(), silent })
    }

    /// Returns once all are back, and nothing has been waiting for a while.
    async fn settled(&self, last: &BTreeMap<String, Option<Timestamp>>) {
        let mut since: Option<Instant> = None;
        loop {
            let is_done = match (self.back(last).await, self.waiting().await) {
                (Some(back), Some(false)) => back.len() == last.len(),
                _ => false,
            };
            let began = *since.get_or_insert_with(Instant::now);
            match is_done {
                true if began.elapsed() >= self.quiet => return,
                true => {}
                false => since = None,
            }
            sleep(POLL).await;
        }
    }

    /// Those that have given a new sign; none when the API server does not answer.
    async fn back(&self, last: &BTreeMap<String, Option<Timestamp>>) -> Option<BTreeSet<String>> {
        let heard = self.heard().await.ok()?;
        let is_back = |(node, before): &(&String, &Option<Timestamp>)| {
            heard.get(*node).is_some_and(|now| now.last.is_some() && now.last != **before)
        };
        Some(last.iter().filter(is_back).map(|(node, _)| node.clone()).collect())
    }

    async fn waiting(&self) -> Option<bool> {
        let requests: Api<CertificateSigningRequest> = Api::all(self.approver.client.clone());
        let requests = asked(requests.list(&ListParams::default())).await.ok()?.items;
        let nobody = BTreeMap::new();
        let now = (self.approver.now)();
        let found = Assessment::of(&self.approver.declared, &nobody, &nobody, &requests, now, self.silence);
        Some(found.is_anything_waiting())
    }

    /// The newest sign of every node.
    async fn heard(&self) -> Result<BTreeMap<String, Heard>, ApproverError> {
        let nodes: Api<Node> = Api::all(self.approver.client.clone());
        let leases: Api<Lease> = Api::namespaced(self.approver.client.clone(), LEASES);
        let nodes = asked(nodes.list(&ListParams::default())).await?.items;
        let leases = asked(leases.list(&ListParams::default())).await?.items;
        let renewed = |name: &str| {
            let lease = leases.iter().find(|lease| lease.name_any() == name)?;
            Some(lease.spec.as_ref()?.renew_time.as_ref()?.0)
        };
        let heard = |node: &Node| {
            let status = node.status.as_ref();
            let reports = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
            let reported = reports.filter_map(|one| Some(one.last_heartbeat_time.as_ref()?.0)).max();
            let addresses = status.and_then(|status| status.addresses.as_ref()).into_iter().flatten();
            Heard {
                last: reported.max(renewed(&node.name_any())),
                addresses: addresses.filter_map(|one| one.address.parse().ok()).collect(),
            }
        };
        Ok(nodes.iter().map(|node| (node.name_any(), heard(node))).collect())
    }

    /// When the certificates end that kubelets serve with. All at once: those that are off take their time.
    async fn ask_kubelets(&self, found: &mut Assessment) {
        let mut asked = tokio::task::JoinSet::new();
        for (place, one) in
            found.kubelets.iter().enumerate().filter(|(_, one)| one.standing != Standing::Absent)
        {
            let (addresses, port, patience) = (one.addresses.clone(), self.kubelet_port, self.patience);
            asked.spawn(async move { (place, ends(&addresses, port, patience).await) });
        }
        while let Some(Ok((place, ends))) = asked.join_next().await {
            found.kubelets[place].certificate_ends = ends;
        }
    }
}

async fn ends(addresses: &[IpAddr], port: u16, patience: Duration) -> Option<Timestamp> {
    for address in addresses {
        if let Ok(chain) = handshake::chain(address.to_string(), port, Trust::Nobody, patience).await {
            return chain.first().map(|own| own.not_after);
        }
    }
    None
}

async fn asked<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, ApproverError> {
    match timeout(REQUEST_LIMIT, request).await {
        Err(_) => Err(ApproverError::TooSlow(REQUEST_LIMIT.as_secs())),
        Ok(answer) => answer.map_err(|error| ApproverError::Api(Box::new(error))),
    }
}

impl ApproverError {
    /// Whether the API server presents a certificate that has ended: it runs, and its operators have not got to it yet.
    pub fn is_expired_certificate(&self) -> bool {
        matches!(self, Self::Api(error) if { let said = sentence(error); said.contains("Expired") || said.contains("expired") })
    }
}
