//! Certificates of a cluster that runs: those that it keeps in Secrets, and those of its nodes' kubelets. Who signed each, who
//! renews it, and when it ends.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use hardway_assets::pki;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, ObjectMeta};
use kube::{Client, Config, ResourceExt as _};
use serde::Serialize;
use tokio::time::timeout;

use crate::api_error::Unanswered;
use crate::kubeconfig::without_retries;
use crate::objects::Node;

/// A certificate, and what is known of its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownCertificate {
    /// Where it is.
    pub place: CertificatePlace,
    /// A file of the folder, `namespace/name` of a Secret, or a node and which of its two.
    pub name: String,
    /// The common name of who signed it, or who is known to sign such ones.
    pub signer: Option<String>,
    /// Who renews it before it ends; none where nobody does by itself.
    pub renewer: Option<String>,
    /// Its first second.
    pub not_before: Option<Timestamp>,
    /// Its last second.
    pub not_after: Timestamp,
}

/// Where a certificate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificatePlace {
    /// The working folder.
    Folder,
    /// A Secret of the cluster.
    Cluster,
    /// A node.
    Node,
}

impl CertificatePlace {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Cluster => "cluster",
            Self::Node => "node",
        }
    }
}

/// What a cluster says, and what it was asked in vain.
#[derive(Debug, Default)]
pub struct LiveCertificates {
    /// What is known.
    pub known: Vec<KnownCertificate>,
    /// What nobody could say, each in a sentence.
    pub unknown: Vec<String>,
}

/// Asks for the Secrets that hold certificates, and every kubelet for how long its own last.
pub async fn ask(
    config: &Config,
    now: Timestamp,
    patience: Duration,
) -> Result<LiveCertificates, Unanswered> {
    let client = without_retries(config)?;
    let mut found = LiveCertificates { known: described(&client, patience).await?, unknown: Vec::new() };
    match undescribed(&client, patience, &mut found.known).await {
        Ok(unread) => found.unknown.extend(unread),
        Err(why) => found.unknown.push(format!("Secrets of type {TLS} could not be read: {why}")),
    }
    let nodes: Api<Node> = Api::all(client.clone());
    let nodes = timeout(patience, nodes.list(&ListParams::default())).await??;
    let asked = nodes.items.iter().map(|node| {
        let node = node.name_any();
        let client = client.clone();
        async move { (timeout(patience, metrics(&client, &node)).await, node) }
    });
    let mut answers: Vec<_> = stream::iter(asked).buffer_unordered(AT_ONCE).collect().await;
    answers.sort_by(|(_, a), (_, b)| a.cmp(b));
    for (answer, node) in answers {
        match answer.map_err(Unanswered::from).and_then(|answer| answer.map_err(Unanswered::from)) {
            Ok(text) => found.known.extend(of_kubelet(&node, &text, now)),
            Err(why) => {
                found.unknown.push(format!("node {node} does not say when its certificates end: {why}"))
            }
        }
    }
    Ok(found)
}

/// Of the annotations that operators write on a Secret, without its content (library-go `pkg/operator/certrotation`,
/// openshift/service-ca-operator `pkg/controller/api`).
pub fn of_annotations(meta: &ObjectMeta) -> Option<KnownCertificate> {
    let annotation = |key: &str| meta.annotations.as_ref()?.get(key).map(String::as_str);
    let rotated = |key: &str| annotation(&format!("auth.openshift.io/certificate-{key}"));
    let time = |text: Option<&str>| text?.parse::<Timestamp>().ok();
    let own = |signer: &str, renewer: &str| (Some(signer.to_owned()), Some(renewer.to_owned()));
    let (not_after, (signer, renewer)) = match time(rotated("not-after")) {
        Some(end) => {
            let renewer = annotation("openshift.io/owning-component").unwrap_or("its operator");
            (end, (rotated("issuer").map(str::to_owned), Some(renewer.to_owned())))
        }
        None => {
            let end = SERVICE_CA.iter().find_map(|key| time(annotation(key)))?;
            (end, own("service-ca", "service-ca"))
        }
    };
    let not_before = time(rotated("not-before"));
    Some(KnownCertificate {
        place: CertificatePlace::Cluster,
        name: name(meta),
        signer,
        renewer,
        not_before,
        not_after,
    })
}

/// Of a kubelet's metrics: both of its certificates, as far as it has them.
pub fn of_kubelet(node: &str, metrics: &str, now: Timestamp) -> Vec<KnownCertificate> {
    let left = |gauge: &str| {
        let line = metrics.lines().find_map(|line| line.strip_prefix(gauge)?.strip_prefix(' '))?;
        let seconds: f64 = line.trim().parse().ok()?;
        // One that does not exist lasts for ever.
        seconds.is_finite().then_some(seconds)
    };
    let both = [("client", CLIENT_GAUGE), ("serving", SERVING_GAUGE)];
    let known = both.into_iter().filter_map(|(which, gauge)| {
        Some(KnownCertificate {
            place: CertificatePlace::Node,
            name: format!("{node} kubelet {which}"),
            // Of the kube-controller-manager, which its operator renews; kubelet-signer of the folder in the first month.
            signer: Some("csr-signer".to_owned()),
            renewer: Some("its kubelet, approved by policy".to_owned()),
            not_before: None,
            not_after: now.checked_add(SignedDuration::from_secs(left(gauge)? as i64)).ok()?,
        })
    });
    known.collect()
}

const AT_ONCE: usize = 16;
const TLS: &str = "kubernetes.io/tls";
const CLIENT_GAUGE: &str = "kubelet_certificate_manager_client_ttl_seconds";
const SERVING_GAUGE: &str = "kubelet_certificate_manager_server_ttl_seconds";
const SERVICE_CA: [&str; 2] = ["service.beta.openshift.io/expiry", "service.alpha.openshift.io/expiry"];

/// Secrets whose operators say when they end: nobody has to read a key for that.
async fn described(client: &Client, patience: Duration) -> Result<Vec<KnownCertificate>, Unanswered> {
    let secrets: Api<Secret> = Api::all(client.clone());
    let listed = timeout(patience, secrets.list_metadata(&ListParams::default())).await??;
    Ok(listed.items.iter().filter_map(|secret| of_annotations(&secret.metadata)).collect())
}

/// Secrets that hold a certificate and say nothing of it, such as one that a person put there. Returns what could not be read.
async fn undescribed(
    client: &Client,
    patience: Duration,
    known: &mut Vec<KnownCertificate>,
) -> Result<Vec<String>, Unanswered> {
    let secrets: Api<Secret> = Api::all(client.clone());
    let of_type = ListParams::default().fields(&format!("type={TLS}"));
    let listed = timeout(patience, secrets.list_metadata(&of_type)).await??;
    let metas = listed.items.into_iter().map(|secret| secret.metadata);
    let asked = metas.filter(|meta| of_annotations(meta).is_none()).filter_map(|meta| {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), meta.namespace.as_deref()?);
        let secret = meta.name.clone()?;
        Some(async move { Ok::<_, Unanswered>((timeout(patience, secrets.get_opt(&secret)).await??, meta)) })
    });
    // In the order of the list, however they answer.
    let answers: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
    let mut unread = Vec::new();
    for answer in answers {
        let (secret, meta) = answer?;
        // One that has gone meanwhile has nothing to say.
        let Some(secret) = secret else { continue };
        let certificate = secret.data.unwrap_or_default().remove("tls.crt");
        let text = certificate.and_then(|bytes| String::from_utf8(bytes.0).ok());
        let facts = text.and_then(|text| pki::inspect(&text).ok()?.into_iter().next());
        let Some(facts) = facts else {
            unread.push(format!("Secret {} holds no certificate that can be read", name(&meta)));
            continue;
        };
        known.push(KnownCertificate {
            place: CertificatePlace::Cluster,
            name: name(&meta),
            signer: Some(facts.issuer_common_name),
            renewer: None,
            not_before: Some(facts.not_before),
            not_after: facts.not_after,
        });
    }
    Ok(unread)
}

/// The API server asks the kubelet on behalf of whoever asks it.
async fn metrics(client: &Client, node: &str) -> kube::Result<String> {
    let request = http::Request::get(format!("/api/v1/nodes/{node}/proxy/metrics")).body(Vec::new());
    client.request_text(request.map_err(kube::Error::HttpError)?).await
}

fn name(meta: &ObjectMeta) -> String {
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    format!("{}/{}", part(&meta.namespace), part(&meta.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn meta(annotations: &serde_json::Value) -> ObjectMeta {
        serde_json::from_value(json!({"namespace": "a", "name": "b", "annotations": annotations})).unwrap()
    }

    #[test]
    fn an_operator_says_who_signs_and_who_renews() {
        let found = of_annotations(&meta(&json!({
            "auth.openshift.io/certificate-not-before": "2026-11-15T12:00:00Z",
            "auth.openshift.io/certificate-not-after": "2026-12-15T12:00:00Z",
            "auth.openshift.io/certificate-issuer": "openshift-etcd_etcd-signer@1",
            "openshift.io/owning-component": "Etcd",
        })))
        .unwrap();
        assert_eq!((found.name.as_str(), found.renewer.as_deref()), ("a/b", Some("Etcd")));
        assert_eq!(found.signer.as_deref(), Some("openshift-etcd_etcd-signer@1"));
        assert_eq!(found.not_after.to_string(), "2026-12-15T12:00:00Z");
    }

    #[test]
    fn service_certificates_are_the_service_cas() {
        let found =
            of_annotations(&meta(&json!({"service.beta.openshift.io/expiry": "2028-12-15T12:00:00Z"})))
                .unwrap();
        assert_eq!(
            (found.signer.as_deref(), found.renewer.as_deref()),
            (Some("service-ca"), Some("service-ca"))
        );
        assert_eq!(of_annotations(&meta(&json!({"openshift.io/owning-component": "Etcd"}))), None);
        assert_eq!(of_annotations(&meta(&json!({"auth.openshift.io/certificate-not-after": "soon"}))), None);
    }

    #[test]
    fn a_kubelet_says_how_long_both_last() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let text = "# TYPE kubelet_certificate_manager_client_ttl_seconds gauge\n\
                    kubelet_certificate_manager_client_ttl_seconds 2.592e+06\n\
                    kubelet_certificate_manager_server_ttl_seconds -60.5\n";
        let found = of_kubelet("master-0", text, now);
        let ends: Vec<(&str, String)> =
            found.iter().map(|one| (one.name.as_str(), one.not_after.to_string())).collect();
        assert_eq!(
            ends,
            [
                ("master-0 kubelet client", "2026-12-15T12:00:00Z".to_owned()),
                ("master-0 kubelet serving", "2026-11-15T11:59:00Z".to_owned()),
            ]
        );
        let none = of_kubelet("m", "kubelet_certificate_manager_server_ttl_seconds +Inf\n", now);
        assert!(none.is_empty(), "{none:?}");
    }
}
