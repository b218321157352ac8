//! The YAML of a kubeconfig, everything embedded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::yaml;
use hardway_base::Secret;

/// One cluster, one user, one context.
pub(super) struct Document<'a> {
    pub(super) server: &'a str,
    pub(super) cluster_name: &'a str,
    pub(super) user: &'a str,
    pub(super) ca: &'a [u8],
    pub(super) certificate: &'a [u8],
    pub(super) key: &'a Secret,
}

impl Document<'_> {
    /// As kubectl reads it.
    pub(super) fn write(&self) -> String {
        yaml::write(&json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{
                "name": self.cluster_name,
                "cluster": {"server": self.server, "certificate-authority-data": STANDARD.encode(self.ca)},
            }],
            "users": [{
                "name": self.user,
                "user": {
                    "client-certificate-data": STANDARD.encode(self.certificate),
                    "client-key-data": STANDARD.encode(self.key.expose()),
                },
            }],
            "contexts": [{"name": self.user, "context": {"cluster": self.cluster_name, "user": self.user}}],
            "current-context": self.user,
        }))
    }
}
