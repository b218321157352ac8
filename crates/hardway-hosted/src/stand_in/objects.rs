//! What the stand-in writes.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use hardway_base::Secret;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::management::Management;
use crate::{hash, names};

/// A config of a pool.
#[derive(Clone, Debug)]
pub struct StandInConfig {
    /// The pool.
    pub node_pool: String,
    /// An Ignition config: all that its machines get.
    pub config: Secret,
    /// Where machines fetch it: host and port.
    pub endpoint: String,
    /// Who signed that server's certificate, in PEM.
    pub authority: String,
    /// Of what is in it.
    pub release_version: String,
}

impl StandInConfig {
    /// Its name: a stand-in chooses its own.
    pub fn hash(&self) -> String {
        hash::of_bytes(self.config.expose())
    }

    pub(super) fn token_secret(&self, management: &Management, token: &Secret, now: Timestamp) -> Value {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        // Writing to memory does not fail.
        let _ = gzip.write_all(self.config.expose());
        let payload = STANDARD.encode(gzip.finish().unwrap_or_default());
        let pool = format!("{}/{}", management.namespace, self.node_pool);
        let base64 = |text: &[u8]| STANDARD.encode(text);
        json!({"apiVersion": "v1", "kind": "Secret", "immutable": false,
            "metadata": {"name": names::token_secret(&self.node_pool, &self.hash()), "namespace": management.control_plane(), "annotations": {
                names::IGNITION_CONFIG: "true", names::NODE_POOL: pool, names::UPGRADE_TYPE: "InPlace", names::TOKEN_GENERATED: now.to_string()}},
            "data": {"token": base64(token.expose()), "payload": base64(payload.as_bytes()), "reason": base64(b"AsExpected"),
                "message": base64(b"Payload generated successfully"), "release-version": base64(self.release_version.as_bytes())}})
    }

    pub(super) fn user_data_secret(&self, management: &Management, token: &Secret) -> Value {
        let pool = format!("{}/{}", management.namespace, self.node_pool);
        let authority = format!("data:text/plain;base64,{}", STANDARD.encode(&self.authority));
        let pointer = json!({"ignition": {
            "config": {"merge": [{"httpHeaders": [
                {"name": "Authorization", "value": format!("Bearer {}", STANDARD.encode(token.expose()))},
                {"name": "NodePool", "value": pool},
                {"name": "TargetConfigVersionHash", "value": self.hash()}],
                "source": format!("https://{}/ignition", self.endpoint)}]},
            "security": {"tls": {"certificateAuthorities": [{"source": authority}]}},
            "version": "3.2.0"}});
        json!({"apiVersion": "v1", "kind": "Secret", "immutable": false,
            "metadata": {"name": names::user_data_secret(&self.node_pool, &self.hash()), "namespace": management.control_plane(),
                "annotations": {names::NODE_POOL: pool}},
            "data": {"value": STANDARD.encode(pointer.to_string()), "disableTemplating": STANDARD.encode("dHJ1ZQ==")}})
    }
}

/// The new token, the one before it, and when.
pub(super) fn rotation(drawn: &Secret, before: Option<&Secret>, now: Timestamp) -> Value {
    let mut data = json!({"token": STANDARD.encode(drawn.expose())});
    if let Some(before) = before {
        data["old_token"] = json!(STANDARD.encode(before.expose()));
    }
    json!({"metadata": {"annotations": {names::TOKEN_GENERATED: now.to_string()}}, "data": data})
}

/// Where workers find the hosted API server.
pub(super) fn bootstrap_kubeconfig(management: &Management, cluster: &Value) -> Value {
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "admin",
        "clusters": [{"name": "cluster", "cluster": cluster}], "users": [{"name": "admin", "user": {"token": "of-nobody"}}],
        "contexts": [{"name": "admin", "context": {"cluster": "cluster", "user": "admin"}}]});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": names::BOOTSTRAP_KUBECONFIG, "namespace": management.control_plane()},
        "data": {"kubeconfig": STANDARD.encode(config.to_string())}})
}

/// The conditions that are the gates.
pub(super) fn pool_status(now: Timestamp) -> Value {
    let at = Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
    let conditions = ["ValidReleaseImage", "ValidMachineConfig", "ValidGeneratedPayload"].map(|kind| {
        json!({"type": kind, "status": "True", "reason": "AsExpected", "message": "as hardway's stand-in says",
            "lastTransitionTime": at, "observedGeneration": 1})
    });
    json!({"status": {"conditions": conditions}})
}
