//! What the approver would decide, offline: about objects in files, with the time as given.

use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestStatus};
use k8s_openapi::api::core::v1::Node;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::approver::ClusterView;
use crate::csr_policy::{Decision, Examined, Request};

/// What would become of one request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulated {
    /// Its name.
    pub request: String,
    /// The node it is about, as far as it says so.
    pub node: Option<String>,
    /// Who asks.
    pub username: String,
    /// Its signer.
    pub signer: String,
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
    /// What a person can do.
    pub fix: String,
}

/// A document that is no object of the kind that is needed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("object {place} is not a {expected}: {found}")]
pub struct WrongObject {
    /// Counted from one, lists opened.
    pub place: usize,
    /// The kind that is needed.
    pub expected: &'static str,
    /// What it is, or what is wrong with it.
    pub found: String,
}

/// Certificate requests of documents, each one or a list of them.
///
/// # Errors
/// With every document that is something else.
pub fn requests(documents: &[Value]) -> Result<Vec<CertificateSigningRequest>, Vec<WrongObject>> {
    objects(documents, "CertificateSigningRequest")
}

/// Nodes of documents, each one or a list of them.
///
/// # Errors
/// With every document that is something else.
pub fn nodes(documents: &[Value]) -> Result<Vec<Node>, Vec<WrongObject>> {
    objects(documents, "Node")
}

/// As if nobody had decided about a request yet.
pub fn undecided(request: CertificateSigningRequest) -> CertificateSigningRequest {
    CertificateSigningRequest { status: Some(CertificateSigningRequestStatus::default()), ..request }
}

/// Decides about each, as if all of them were in the cluster at that time.
pub fn simulate(
    mut view: ClusterView,
    requests: &[CertificateSigningRequest],
    nodes: &[Node],
    now: Timestamp,
) -> Vec<Simulated> {
    requests.iter().for_each(|request| view.see_request(request));
    let decided = requests.iter().map(|object| {
        let examined = Examined::new(Request::of(object));
        let node = nodes.iter().find(|node| node.metadata.name.as_deref() == examined.node());
        let decision = view.decide(&examined, node, now);
        Simulated {
            fix: decision.fix(&examined.request.name, examined.node()),
            node: examined.node().map(str::to_owned),
            request: examined.request.name,
            username: examined.request.username,
            signer: examined.request.signer,
            decision,
        }
    });
    decided.collect()
}

/// `oc get -o yaml` prints one object, or a `List` of them.
fn objects<K: DeserializeOwned>(
    documents: &[Value],
    expected: &'static str,
) -> Result<Vec<K>, Vec<WrongObject>> {
    let all = documents.iter().flat_map(|document| match &document["items"] {
        Value::Array(items) => items.clone(),
        _ => vec![document.clone()],
    });
    let (mut good, mut wrong) = (Vec::new(), Vec::new());
    for (place, object) in (1..).zip(all) {
        let kind = object["kind"].as_str().unwrap_or("an object without a kind").to_owned();
        let read = if kind == expected {
            serde_json::from_value(object).map_err(|error| error.to_string())
        } else {
            Err(kind)
        };
        match read {
            Ok(object) => good.push(object),
            Err(found) => wrong.push(WrongObject { place, expected, found }),
        }
    }
    if wrong.is_empty() { Ok(good) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_opened_and_every_wrong_object_is_named() {
        let node = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [node("a"), node("b")]});
        let read = nodes(&[list, node("c")]).unwrap();
        let names: Vec<_> = read.iter().filter_map(|node| node.metadata.name.as_deref()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let wrong = nodes(&[node("a"), json!({"kind": "Pod"}), json!(7)]).unwrap_err();
        assert_eq!(
            wrong.iter().map(|one| (one.place, one.found.as_str())).collect::<Vec<_>>(),
            [(2, "Pod"), (3, "an object without a kind")]
        );
    }
}
