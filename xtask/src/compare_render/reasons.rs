//! Differences from what the operators' own `render` commands write, each with why it is meant.

/// Object, with an asterisk for anything; path in it, likewise; why.
const REASONS: [(&str, &str, &str); 37] = [
    ("*", "/metadata/annotations/openshift.io~1description", WORDS),
    ("SecurityContextConstraints *", "/metadata/annotations/kubernetes.io~1description", WORDS),
    (
        "CustomResourceDefinition apirequestcounts.apiserver.openshift.io",
        "",
        "the API server's operator creates it; until then requests are not counted",
    ),
    (
        "Secret openshift-etcd/etcd-*-bootstrap*",
        "/metadata/annotations/auth.openshift.io~1certificate-hostnames",
        "all addresses of a dual-stack host, as the operator has them for masters; its render takes the first",
    ),
    (
        "Secret openshift-etcd/*",
        "/metadata/annotations/certificates.openshift.io~1refresh-period",
        "the operator notes it beside a certificate that it keeps",
    ),
    ("SecurityContextConstraints restricted-v3", "", LATER),
    ("SecurityContextConstraints nested-container", "", LATER),
    ("ClusterRole system:openshift:scc:restricted-v3", "", LATER),
    ("ClusterRole system:openshift:scc:nested-container", "", LATER),
    ("ClusterRoleBinding system:openshift:scc:restricted-v3", "", LATER),
    ("Pod *", "*/securityContext/readOnlyRootFilesystem", READ_ONLY),
    ("Pod */bootstrap-kube-controller-manager", "*/cluster-policy-controller/securityContext", READ_ONLY),
    ("Pod *", "*/volumes/tmp", READ_ONLY),
    ("Pod *", "*/volumes/ca-trust", READ_ONLY),
    ("Pod *", "*/volumes/var-run-kubernetes", READ_ONLY),
    ("Pod *", "*/volumeMounts/~1tmp", READ_ONLY),
    ("Pod *", "*/volumeMounts/~1etc~1pki~1ca-trust~1extracted~1pem", READ_ONLY),
    ("Pod *", "*/volumeMounts/~1var~1run~1kubernetes", READ_ONLY),
    ("Pod *", "/spec/restartPolicy", "the default, said"),
    ("Pod *", "*/imagePullPolicy", "the default, said"),
    ("Pod *", "*/ports", "on the host's network, so that it opens nothing"),
    ("Pod *", "*/hostPath/type", "a folder that is not there yet is made"),
    ("Pod *", "*/terminationMessagePolicy", "the end of a container's log says why it ended"),
    ("Pod *", "*/volumeMounts/~1etc~1ssl~1etcd/readOnly", "nobody writes there"),
    ("Pod *", "*~1etc~1kubernetes~1cloud", "a cloud's configuration: there is no cloud"),
    ("Pod *", "/spec/volumes/etc-kubernetes-cloud", "a cloud's configuration: there is no cloud"),
    ("Pod *", "*/flags/--advertise-address", "the inventory says the address, the kubelet need not"),
    (
        "Pod */bootstrap-kube-apiserver",
        "*/kube-apiserver/env",
        "the inventory says the address, the kubelet need not",
    ),
    ("Pod */etcd-bootstrap-member", "*/command*", NO_SHELL),
    ("Pod */etcd-bootstrap-member", "*/args*", NO_SHELL),
    ("Pod */bootstrap-kube-apiserver", "*/command*", NO_SHELL),
    ("Pod */bootstrap-kube-apiserver", "*/args*", NO_SHELL),
    ("Pod */bootstrap-kube-controller-manager", "*/--cluster-cidr*", ONE_VALUE),
    ("Pod */bootstrap-kube-controller-manager", "*/--service-cluster-ip-range*", ONE_VALUE),
    ("KubeControllerManagerConfig ", "/extendedArguments/cluster-cidr/*", ONE_VALUE),
    ("KubeControllerManagerConfig ", "/extendedArguments/service-cluster-ip-range/*", ONE_VALUE),
    (
        "KubeAPIServerConfig ",
        "/apiServerArguments/proxy-client-*",
        "aggregator-client, which the CA that is asked about it has signed; apiserver-proxy is another CA's",
    ),
];

const WORDS: &str = "in words of its own; the release's own manifest or operator writes its words later";
const LATER: &str = "the release creates it; no pod needs it before";
const READ_ONLY: &str =
    "the container's own file system may be written, and is as short-lived as the bootstrap host";
const ONE_VALUE: &str = "both families in one value: of a flag that is given twice the last one is taken";
const NO_SHELL: &str = "the same program with the same flags, which are compared, without a shell around it";

/// Why a difference is meant, if it is.
pub(super) fn of(object: &str, path: &str) -> Option<&'static str> {
    let found = REASONS.iter().find(|(objects, paths, _)| matches(objects, object) && matches(paths, path));
    found.map(|(_, _, why)| *why)
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|text| {
            (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| matches(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_for_what_it_names() {
        assert!(of("Secret a/b", "/metadata/annotations/openshift.io~1description").is_some());
        assert!(of("Secret a/b", "/data/tls.crt").is_none());
        assert!(of("Secret a/b", "").is_none());
        assert!(
            matches("Secret */etcd-*", "Secret n/etcd-client")
                && matches("a*b", "ab")
                && !matches("ab*b", "ab")
        );
    }
}
