//! What the API server writes to its audit log.

use serde_json::{Value, json};

/// The profile `Default` of the APIServer configuration (library-go `pkg/operator/apiserver/audit`): who did what, never
/// the content, but for changes of identities and tokens; nothing about discovery and health.
pub(super) fn default_audit_policy() -> Value {
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "metadata": {"name": "policy"},
        "omitManagedFields": true,
        "omitStages": ["RequestReceived"],
        "rules": [
            {
                "level": "None",
                "userGroups": ["system:authenticated", "system:unauthenticated"],
                "nonResourceURLs": ["/api*", "/version", "/healthz", "/readyz", "/livez"],
            },
            {
                "level": "None",
                "users": ["system:apiserver"],
                "resources": [{
                    "group": "apiserver.openshift.io",
                    "resources": ["apirequestcounts", "apirequestcounts/*"],
                }],
                "namespaces": [""],
            },
            {
                "level": "RequestResponse",
                "verbs": ["create", "update", "patch", "delete"],
                "resources": [
                    {"group": "user.openshift.io", "resources": ["identities"]},
                    {"group": "oauth.openshift.io", "resources": ["oauthaccesstokens", "oauthauthorizetokens"]},
                ],
            },
            {"level": "Metadata", "omitStages": ["RequestReceived"]},
        ],
    })
}
