//! The bootstrap API server's configuration: `kube-apiserver-config.yaml`.
//!
//! The values are those of the API servers that the operator starts on masters, with the paths of the bootstrap
//! machine (cluster-kube-apiserver-operator `bindata/assets/config/defaultconfig.yaml` and
//! `bindata/bootkube/config/bootstrap-config-overrides.yaml`), but for one: the aggregator presents
//! `aggregator-client`, which the request-header CA has signed. Upstream presents a certificate of another CA here,
//! so that aggregated APIs refuse the bootstrap API server.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::argument::{self, Facts, Flag, Setting};
use super::pod::StaticPodFile;
use crate::feature_gates;
use crate::graph::{Facet, Inputs, MakeError, Source};

pub(super) const CONFIG: StaticPodFile = StaticPodFile { name: "kube-apiserver-config", sources, build };

/// Keys beside `apiServerArguments`.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        path: &["admission", "pluginConfig", "PodSecurity"],
        value: |facts| json!({"configuration": pod_security(facts)}),
    },
    Setting {
        path: &["admission", "pluginConfig", "network.openshift.io/ExternalIPRanger"],
        value: |_| {
            json!({"configuration": {
                "apiVersion": "network.openshift.io/v1",
                "kind": "ExternalIPRangerAdmissionConfig",
                "allowIngressIP": true,
                "externalIPNetworkCIDRs": null,
            }})
        },
    },
    Setting {
        path: &["admission", "pluginConfig", "network.openshift.io/RestrictedEndpointsAdmission"],
        value: |facts| {
            let networks = [facts.service_networks(), facts.pod_networks()].concat();
            json!({"configuration": {
                "apiVersion": "network.openshift.io/v1",
                "kind": "RestrictedEndpointsAdmissionConfig",
                "restrictedCIDRs": networks,
            }})
        },
    },
    Setting {
        path: &["auditConfig"],
        value: |_| json!({"enabled": true, "policyConfiguration": default_audit_policy()}),
    },
    Setting { path: &["servicesSubnet"], value: |facts| facts.service_networks().join(",").into() },
    Setting {
        path: &["servingInfo", "bindAddress"],
        value: |facts| {
            let both = facts.is_dual_stack() && facts.contract.listens_on_both_families();
            if both || facts.cluster.is_ipv6_primary() { "[::]:6443" } else { "0.0.0.0:6443" }.into()
        },
    },
    Setting {
        path: &["servingInfo", "bindNetwork"],
        // With IPv6 first, the address it advertises is one; `tcp` listens for both families.
        value: |facts| {
            let both = facts.is_dual_stack() && facts.contract.listens_on_both_families();
            match (facts.is_ipv6_only(), both || facts.cluster.is_ipv6_primary()) {
                (true, _) => "tcp6",
                (false, true) => "tcp",
                (false, false) => "tcp4",
            }
            .into()
        },
    },
    Setting { path: &["servingInfo", "namedCertificates"], value: |_| named_certificates() },
];

/// `apiServerArguments`: explained as `kube-apiserver --…`.
pub(super) const ARGUMENTS: &[Flag] = &[
    Flag::fixed("allow-privileged", &["true"]),
    Flag::fixed("anonymous-auth", &["true"]),
    Flag::fixed("api-audiences", &[ISSUER]),
    Flag::fixed("audit-log-format", &["json"]),
    Flag::fixed("audit-log-maxbackup", &["10"]),
    Flag::fixed("audit-log-maxsize", &["200"]),
    Flag::fixed("audit-log-path", &["/var/log/kube-apiserver/audit.log"]),
    // Not a file: the server writes auditConfig.policyConfiguration there by itself.
    Flag::fixed("audit-policy-file", &["openshift.local.audit/policy.yaml"]),
    Flag::fixed("authorization-mode", &["Scope", "SystemMasters", "RBAC", "Node"]),
    Flag::fixed("client-ca-file", &["/etc/kubernetes/secrets/kube-apiserver-complete-client-ca-bundle.crt"]),
    Flag::of("enable-admission-plugins", admission_plugins),
    Flag::fixed("enable-aggregator-routing", &["true"]),
    Flag::fixed("enable-logs-handler", &["false"]),
    Flag::fixed("endpoint-reconciler-type", &["lease"]),
    Flag::fixed("etcd-cafile", &["/etc/kubernetes/secrets/etcd-ca-bundle.crt"]),
    Flag::fixed("etcd-certfile", &["/etc/kubernetes/secrets/etcd-client.crt"]),
    Flag::fixed("etcd-healthcheck-timeout", &["9s"]),
    Flag::fixed("etcd-keyfile", &["/etc/kubernetes/secrets/etcd-client.key"]),
    Flag::fixed("etcd-prefix", &["kubernetes.io"]),
    Flag::fixed("etcd-readycheck-timeout", &["9s"]),
    Flag::fixed("etcd-servers", &["https://localhost:2379"]),
    Flag::fixed("event-ttl", &["3h"]),
    Flag::of("feature-gates", argument::gate_flags),
    Flag::fixed("goaway-chance", &["0.001"]),
    Flag::fixed("http2-max-streams-per-connection", &["2000"]),
    Flag::fixed("kubelet-certificate-authority", &["/etc/kubernetes/secrets/kubelet-client-ca-bundle.crt"]),
    Flag::fixed(
        "kubelet-client-certificate",
        &["/etc/kubernetes/secrets/kube-apiserver-to-kubelet-client.crt"],
    ),
    Flag::fixed("kubelet-client-key", &["/etc/kubernetes/secrets/kube-apiserver-to-kubelet-client.key"]),
    Flag::fixed("kubelet-preferred-address-types", &["InternalIP"]),
    Flag::fixed("kubelet-read-only-port", &["0"]),
    Flag::fixed("kubernetes-service-node-port", &["0"]),
    Flag::fixed("max-mutating-requests-inflight", &["1000"]),
    Flag::fixed("max-requests-inflight", &["3000"]),
    Flag::fixed("min-request-timeout", &["3600"]),
    Flag::fixed("proxy-client-cert-file", &["/etc/kubernetes/secrets/aggregator-client.crt"]),
    Flag::fixed("proxy-client-key-file", &["/etc/kubernetes/secrets/aggregator-client.key"]),
    Flag::fixed(
        "requestheader-allowed-names",
        &["kube-apiserver-proxy", "system:kube-apiserver-proxy", "system:openshift-aggregator"],
    ),
    Flag::fixed("requestheader-client-ca-file", &["/etc/kubernetes/secrets/aggregator-signer.crt"]),
    Flag::fixed("requestheader-extra-headers-prefix", &["X-Remote-Extra-"]),
    Flag::fixed("requestheader-group-headers", &["X-Remote-Group"]),
    Flag::fixed("requestheader-username-headers", &["X-Remote-User"]),
    Flag::of("runtime-config", runtime_config),
    Flag::fixed("service-account-issuer", &[ISSUER]),
    // Tokens of both kinds of key are about until the pivot is over.
    Flag::fixed(
        "service-account-key-file",
        &[
            "/etc/kubernetes/secrets/service-account.pub",
            "/etc/kubernetes/secrets/bound-service-account-signing-key.pub",
        ],
    ),
    Flag::fixed("service-account-lookup", &["true"]),
    Flag::fixed(
        "service-account-signing-key-file",
        &["/etc/kubernetes/secrets/bound-service-account-signing-key.key"],
    ),
    Flag::fixed("service-node-port-range", &["30000-32767"]),
    Flag::of("shutdown-delay-duration", |facts| {
        vec![if facts.cluster.is_single_node() { "0s" } else { "70s" }.to_owned()]
    }),
    Flag::fixed("shutdown-send-retry-after", &["true"]),
    Flag::fixed("storage-backend", &["etcd3"]),
    Flag::fixed("storage-media-type", &["application/vnd.kubernetes.protobuf"]),
    Flag::fixed("strict-transport-security-directives", &["max-age=31536000,includeSubDomains,preload"]),
    Flag::fixed("tls-cert-file", &["/etc/kubernetes/secrets/kube-apiserver-service-network-server.crt"]),
    Flag::fixed(
        "tls-private-key-file",
        &["/etc/kubernetes/secrets/kube-apiserver-service-network-server.key"],
    ),
];

/// The whole file.
pub(super) fn document(facts: &Facts<'_>) -> Value {
    let api_version = "kubecontrolplane.config.openshift.io/v1";
    let mut document = argument::document(api_version, "KubeAPIServerConfig", SETTINGS, facts);
    document["apiServerArguments"] = argument::lists(ARGUMENTS, facts);
    document
}

fn sources() -> Vec<Source> {
    let mut sources = vec![
        Source::Release(Facet::Version),
        Source::config("controlPlane.replicas"),
        Source::config("networking.clusterNetwork"),
        Source::config("networking.serviceNetwork"),
    ];
    sources.extend(feature_gates::sources());
    sources
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(document(&Facts::with_gates(inputs.cluster, inputs.release)?))
}

/// Which certificate answers to which name. The load balancer's two carry their names themselves.
fn named_certificates() -> Value {
    let pair = |name: &str, names: &[&str]| {
        let mut entry = json!({
            "certFile": format!("/etc/kubernetes/secrets/kube-apiserver-{name}-server.crt"),
            "keyFile": format!("/etc/kubernetes/secrets/kube-apiserver-{name}-server.key"),
        });
        if !names.is_empty() {
            entry["names"] = json!(names);
        }
        entry
    };
    let kubernetes = [
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ];
    json!([
        pair("service-network", &kubernetes),
        pair("localhost", &["localhost", "127.0.0.1", "::1"]),
        pair("lb", &[]),
        pair("internal-lb", &[]),
    ])
}

/// Namespaces that say nothing are only warned about, unless a gate makes the restriction binding. Builds are exempt:
/// their pods are privileged, and SCCs already decide who may start them.
fn pod_security(facts: &Facts<'_>) -> Value {
    let binding = facts.gates.enabled.iter().any(|gate| gate == "OpenShiftPodSecurityAdmission");
    json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {
            "enforce": if binding { "restricted" } else { "privileged" },
            "enforce-version": "latest",
            "audit": "restricted",
            "audit-version": "latest",
            "warn": "restricted",
            "warn-version": "latest",
        },
        "exemptions": {"usernames": ["system:serviceaccount:openshift-infra:build-controller"]},
    })
}

/// APIs that are off by default and that a gate needs, with the minors of Kubernetes where it does
/// (`pkg/operator/configobservation/apienablement`).
fn runtime_config(facts: &Facts<'_>) -> Vec<String> {
    const APIS: [(&str, &str, RangeInclusive<u32>); 7] = [
        ("ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1beta1", 31..=32),
        ("MutatingAdmissionPolicy", "admissionregistration.k8s.io/v1alpha1", 33..=35),
        ("MutatingAdmissionPolicy", "admissionregistration.k8s.io/v1beta1", 34..=35),
        ("DynamicResourceAllocation", "resource.k8s.io/v1alpha3", 31..=33),
        ("DynamicResourceAllocation", "resource.k8s.io/v1beta1", 32..=33),
        ("DynamicResourceAllocation", "resource.k8s.io/v1beta2", 33..=33),
        ("VolumeAttributesClass", "storage.k8s.io/v1beta1", 31..=33),
    ];
    let kubernetes = facts.contract.kubernetes_minor();
    let on = |gate: &str| facts.gates.enabled.iter().any(|enabled| enabled == gate);
    let apis = APIS.iter().filter(|(gate, _, minors)| minors.contains(&kubernetes) && on(gate));
    apis.map(|(_, api, _)| format!("{api}=true")).collect()
}

fn admission_plugins(facts: &Facts<'_>) -> Vec<String> {
    let is_named =
        |name: &&&str| facts.contract.names_role_binding_plugins() || !ROLE_BINDING_PLUGINS.contains(*name);
    ADMISSION_PLUGINS.iter().filter(is_named).map(|name| (*name).to_owned()).collect()
}

const ISSUER: &str = "https://kubernetes.default.svc";

const ROLE_BINDING_PLUGINS: [&str; 2] = [
    "authorization.openshift.io/RestrictSubjectBindings",
    "authorization.openshift.io/ValidateRoleBindingRestriction",
];

/// Upstream's, then OpenShift's own.
const ADMISSION_PLUGINS: &[&str] = &[
    "CertificateApproval",
    "CertificateSigning",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "DefaultStorageClass",
    "DefaultTolerationSeconds",
    "LimitRanger",
    "MutatingAdmissionWebhook",
    "NamespaceLifecycle",
    "NodeRestriction",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "PodNodeSelector",
    "PodTolerationRestriction",
    "Priority",
    "ResourceQuota",
    "RuntimeClass",
    "ServiceAccount",
    "StorageObjectInUseProtection",
    "TaintNodesByCondition",
    "ValidatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "authorization.openshift.io/RestrictSubjectBindings",
    "authorization.openshift.io/ValidateRoleBindingRestriction",
    "config.openshift.io/DenyDeleteClusterConfiguration",
    "config.openshift.io/ValidateAPIServer",
    "config.openshift.io/ValidateAuthentication",
    "config.openshift.io/ValidateConsole",
    "config.openshift.io/ValidateFeatureGate",
    "config.openshift.io/ValidateImage",
    "config.openshift.io/ValidateOAuth",
    "config.openshift.io/ValidateProject",
    "config.openshift.io/ValidateScheduler",
    "image.openshift.io/ImagePolicy",
    "network.openshift.io/ExternalIPRanger",
    "network.openshift.io/RestrictedEndpointsAdmission",
    "quota.openshift.io/ClusterResourceQuota",
    "quota.openshift.io/ValidateClusterResourceQuota",
    "route.openshift.io/IngressAdmission",
    "scheduling.openshift.io/OriginPodNodeEnvironment",
    "security.openshift.io/DefaultSecurityContextConstraints",
    "security.openshift.io/SCCExecRestrictions",
    "security.openshift.io/SecurityContextConstraint",
    "security.openshift.io/ValidateSecurityContextConstraints",
    "storage.openshift.io/CSIInlineVolumeSecurity",
];

/// The profile `Default` of the APIServer configuration (library-go `pkg/operator/apiserver/audit`): who did what, never
/// the content, but for changes of identities and tokens; nothing about discovery and health.
fn default_audit_policy() -> Value {
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
