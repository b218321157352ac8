//! A test pod in a namespace of its own, which is deleted whatever happens.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use hardway_base::Verdict;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{Api, AttachParams, DeleteParams, ListParams, LogParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep, timeout};

use super::outcome::{Check, VerifyOutcome};
use super::questions::AskError;
use super::{inside, pod_view};
use crate::api_error::sentence;
use crate::objects;

/// What is run.
pub(super) struct Workload {
    pub(super) client: Client,
    /// An image with a shell.
    pub(super) image: String,
    /// Makes the namespace's name.
    pub(super) suffix: String,
    /// Names that pods must be able to resolve, with what they are.
    pub(super) names: Vec<(String, Vec<IpAddr>)>,
    /// Names that nobody has.
    pub(super) absent: Vec<String>,
    /// For the pod to be Ready.
    pub(super) patience: Duration,
    /// For an answer from outside the API.
    pub(super) answer_patience: Duration,
}

pub(super) const POD: &str = "hardway-verify";
/// Of the namespaces' names.
const PREFIX: &str = "hardway-verify-";
pub(super) const LABEL: &str = "hardway.dev/verify";
/// Of the pod that is behind the Service.
pub(super) const SERVES: &str = "hardway.dev/verify-serves";
pub(super) const PORT: u16 = 8080;
pub(super) const SAID: &str = "hardway was here";
/// Where a pod may write.
const FOLDER: &str = "/hardway";

/// Why what a pod should say is not read from it.
#[derive(Debug, thiserror::Error)]
enum PodError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("the command did not finish")]
    Endless,
    #[error("the pod's log has {0:?} instead of {SAID:?}")]
    Logged(String),
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("the command said {0:?} instead of {SAID:?}")]
    Said(String),
}

impl Workload {
    /// The checks `workload`, `logs` and `exec`, and those of what is around the pod. A namespace that an interrupted run left behind goes too.
    pub(super) async fn check(&self, wants: impl Fn(Check) -> bool) -> Vec<VerifyOutcome> {
        let namespace = format!("{PREFIX}{}", self.suffix);
        let mut outcomes = self.run(&namespace, &wants).await;
        if let Err(error) = self.clean_up().await {
            let seen = format!("namespace {namespace} could not be deleted: {error}");
            let fix = format!("oc delete namespace -l {LABEL}");
            match outcomes.iter_mut().find(|outcome| outcome.check == Check::Workload) {
                // One check, one verdict; a failure keeps its own advice.
                Some(outcome) => {
                    let judged = &mut outcome.judged;
                    judged.verdict = judged.verdict.max(Verdict::Warned);
                    judged.seen.push(seen);
                    judged.fix.get_or_insert(fix);
                }
                None => outcomes.push(VerifyOutcome::warned(Check::Workload, vec![seen], &fix)),
            }
        }
        outcomes
    }

    async fn run(&self, namespace: &str, wants: impl Fn(Check) -> bool) -> Vec<VerifyOutcome> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let mut outcomes = Vec::new();
        match self.start(namespace, &pods).await {
            Ok(node) => outcomes.push(VerifyOutcome::passed(
                Check::Workload,
                format!("a pod of {} runs on {node}", self.image),
            )),
            Err(seen) => {
                outcomes.push(VerifyOutcome::failed(
                    Check::Workload,
                    seen,
                    "check `oc get events -A`, and that the image can be pulled; --image names another",
                ));
                let others = [Check::Logs, Check::Exec].into_iter().chain(inside::CHECKS);
                for check in others.filter(|check| wants(*check)) {
                    outcomes.push(VerifyOutcome::skipped(check, "no pod runs"));
                }
                return outcomes;
            }
        }
        const FIX: &str = "approve the node's serving certificate: hardway approve; the API server must reach port 10250 of the nodes";
        if wants(Check::Logs) {
            outcomes.push(match self.logs(&pods).await {
                Ok(()) => VerifyOutcome::passed(Check::Logs, "the pod's log can be read"),
                Err(error) => VerifyOutcome::failed(Check::Logs, vec![error.to_string()], FIX),
            });
        }
        if wants(Check::Exec) {
            outcomes.push(match self.exec(&pods).await {
                Ok(()) => VerifyOutcome::passed(Check::Exec, "a command ran in the pod"),
                Err(error) => VerifyOutcome::failed(Check::Exec, vec![error.to_string()], FIX),
            });
        }
        if inside::CHECKS.into_iter().any(&wants) {
            outcomes.extend(self.inside(namespace, &wants).await);
        }
        outcomes
    }

    /// The node it runs on, or what is in its way.
    async fn start(&self, namespace: &str, pods: &Api<Pod>) -> Result<String, Vec<String>> {
        let made: Namespace = object(json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": namespace, "labels": {LABEL: "true"}}}))?;
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        namespaces.create(&PostParams::default(), &made).await.map_err(|error| vec![sentence(&error)])?;
        let end = Instant::now() + self.patience;
        let environment = BTreeMap::from([
            ("SAID", SAID.to_owned()),
            ("FOLDER", FOLDER.to_owned()),
            ("PORT", PORT.to_string()),
        ]);
        let mut pod = self.pod(POD, pod_view::SERVE, &environment);
        pod["metadata"]["labels"][SERVES] = json!("true");
        let pod: Pod = object(pod)?;
        // The namespace's service account comes a moment after it, and until then pods are refused.
        while let Err(error) = pods.create(&PostParams::default(), &pod).await {
            if Instant::now() >= end {
                return Err(vec![format!("the pod was refused: {}", sentence(&error))]);
            }
            sleep(Duration::from_millis(500)).await;
        }
        let watched: Api<objects::Pod> = Api::namespaced(self.client.clone(), namespace);
        loop {
            let pod = watched.get(POD).await.map_err(|error| vec![sentence(&error)])?;
            if pod.is_ready() {
                return Ok(pod.spec.node_name.unwrap_or_default());
            }
            if Instant::now() >= end {
                let phase = pod.status.phase.clone().unwrap_or_default();
                let node = pod.spec.node_name.as_deref().unwrap_or("no node");
                let mut seen =
                    vec![format!("the pod is {phase} on {node} after {} s", self.patience.as_secs())];
                seen.extend(in_the_way(&pod));
                return Err(seen);
            }
            sleep(Duration::from_millis(500)).await;
        }
    }

    /// Allowed by the strictest of the usual policies: it asks for nothing. The user is named, because many images are root's
    /// own, and not every cluster gives its pods another.
    pub(super) fn pod(
        &self,
        name: &str,
        script: &str,
        environment: &BTreeMap<&str, String>,
    ) -> serde_json::Value {
        let environment: Vec<_> =
            environment.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {LABEL: "true"}}, "spec": {
            "restartPolicy": "Never", "automountServiceAccountToken": false, "terminationGracePeriodSeconds": 1,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": [{"name": "folder", "emptyDir": {}}],
            "containers": [{"name": name, "image": self.image, "command": ["/bin/sh", "-c", script], "env": environment,
                "volumeMounts": [{"name": "folder", "mountPath": FOLDER}],
                "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
                "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}})
    }

    async fn logs(&self, pods: &Api<Pod>) -> Result<(), PodError> {
        let text = self.within(pods.logs(POD, &LogParams::default())).await?;
        if text.contains(SAID) { Ok(()) } else { Err(PodError::Logged(text)) }
    }

    async fn exec(&self, pods: &Api<Pod>) -> Result<(), PodError> {
        let parameters = AttachParams::default().stdout(true).stderr(false);
        let mut process = self.within(pods.exec(POD, ["echo", SAID], &parameters)).await?;
        let mut text = String::new();
        if let Some(mut output) = process.stdout() {
            let read = timeout(self.patience, output.read_to_string(&mut text)).await;
            read.map_err(|_| PodError::Endless)??;
        }
        if text.contains(SAID) { Ok(()) } else { Err(PodError::Said(text)) }
    }

    pub(super) async fn within<T>(
        &self,
        asked: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, AskError> {
        match timeout(self.patience, asked).await {
            Ok(answer) => answer.map_err(AskError::from),
            Err(_) => Err(AskError::Late(self.patience)),
        }
    }

    pub(super) async fn clean_up(&self) -> Result<(), AskError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let ours = ListParams::default().labels(&format!("{LABEL}=true"));
        let found = self.within(namespaces.list(&ours)).await?;
        // A label is soon put on, and what goes with a namespace does not come back.
        for namespace in found.into_iter().filter(|one| one.name_any().starts_with(PREFIX)) {
            match namespaces.delete(&namespace.name_any(), &DeleteParams::default()).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// What a pod waits for.
pub(super) fn in_the_way(pod: &objects::Pod) -> Vec<String> {
    let conditions = pod.status.conditions.iter().flatten();
    let conditions =
        conditions.filter(|c| c.status != objects::Truth::True).map(objects::Condition::sentence);
    conditions.chain(pod.status.container_statuses.iter().flatten().filter_map(waits)).collect()
}

/// Why a container does not run yet.
fn waits(container: &objects::ContainerStatus) -> Option<String> {
    let waiting = container.state.waiting.as_ref()?;
    let (reason, message) = (waiting.reason.as_deref()?, waiting.message.as_deref().unwrap_or_default());
    Some(format!("container {}: {reason}: {message}", container.name))
}

pub(super) fn object<K: serde::de::DeserializeOwned>(value: serde_json::Value) -> Result<K, Vec<String>> {
    serde_json::from_value(value).map_err(|error| vec![error.to_string()])
}
