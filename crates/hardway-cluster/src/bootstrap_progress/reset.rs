//! Beginning a failed bootkube anew, without losing what etcd already has.
//!
//! What people did by hand when it hung: stop it, remove its container and its static pods, but never etcd's, take the
//! IPv6 name of localhost away, and start it again. The markers of the stages that put those pods there go with them,
//! or the script would believe they are still there.

use std::fmt::Write as _;

use crate::remote::{Remote, RemoteError};

/// One thing that is done.
#[derive(Clone, Copy, Debug)]
pub struct ResetAction {
    /// In a few words.
    pub what: &'static str,
    /// Why it is needed.
    pub why: &'static str,
    /// The command, as root on the host.
    pub command: &'static str,
    /// Only where the cluster speaks IPv4 first.
    pub is_ipv4_only: bool,
}

/// A reset that was not done.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The host could not be reached, or a command failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// Too late for it.
    #[error(
        "the temporary control plane has already ended, and the masters run the cluster: there is nothing to start over"
    )]
    HandedOver,
}

const fn action(what: &'static str, why: &'static str, command: &'static str) -> ResetAction {
    ResetAction { what, why, command, is_ipv4_only: false }
}

/// In this order.
pub const RESET: [ResetAction; 7] = [
    action(
        "stop bootkube.service",
        "it would restore what the next steps remove",
        "systemctl stop bootkube.service",
    ),
    action(
        "remove the container cluster-bootstrap",
        "a container of that name from an earlier attempt blocks the next one; hosts installed by openshift-install have one",
        "if command -v podman >/dev/null && podman container exists cluster-bootstrap; then podman container rm --force cluster-bootstrap; fi",
    ),
    action(
        "remove the static pods of the temporary control plane",
        "they may use certificates or flags of the failed attempt. The etcd pod stays because it holds the cluster's data, and \
         the machine-config-server's because masters may be fetching from it",
        "rm -f \"$kubernetes\"/manifests/{kube-apiserver-pod,kube-controller-manager-pod,kube-scheduler-pod,cluster-version-operator-pod,cloud-credential-operator-pod,bootstrap-pod}.yaml",
    ),
    action(
        "remove the pods' copy of the certificates",
        "the stage `secrets` creates it again",
        "rm -rf \"$kubernetes/bootstrap-secrets\"",
    ),
    action(
        "remove the markers of the stages that put them there",
        "a stage with a marker is not repeated",
        "rm -f \"$openshift\"/{wait-for-etcd,secrets,control-plane-pods,wait-for-api}.done",
    ),
    ResetAction {
        what: "remove localhost from the IPv6 loopback entry",
        why: "if localhost resolves to ::1 first, probes of servers that listen on IPv4 only fail",
        command: "if grep -qE '^::1[[:space:]]+.*\\blocalhost\\b' \"$etc/hosts\"; then cp -p \"$etc/hosts\" \"$etc/hosts.before-reset\"; sed -i -E '/^::1[[:space:]]+.*\\blocalhost\\b/d' \"$etc/hosts\"; fi",
        is_ipv4_only: true,
    },
    action(
        "start bootkube.service",
        "it continues with the first stage without a marker",
        "systemctl reset-failed bootkube.service; systemctl start --no-block bootkube.service",
    ),
];

/// Does all of it in one go, and gives back what was done. Nothing is done once the masters have taken over.
pub async fn reset(remote: &Remote, is_ipv6_primary: bool) -> Result<Vec<&'static str>, ResetError> {
    let actions = || RESET.iter().filter(|action| !(action.is_ipv4_only && is_ipv6_primary));
    let answer = remote.run(&script(actions())).await?;
    if answer.lines().any(|line| line == HANDED_OVER) {
        return Err(ResetError::HandedOver);
    }
    Ok(actions().map(|action| action.what).collect())
}

const HANDED_OVER: &str = "handed over";

fn script<'a>(actions: impl Iterator<Item = &'a ResetAction>) -> String {
    let mut script = format!(
        "set -euo pipefail\nopenshift=${{OPENSHIFT_DIR:-/opt/openshift}} etc=${{HOST_ETC:-/etc}}\n\
         kubernetes=${{KUBERNETES_DIR:-$etc/kubernetes}}\n\
         if [[ -e $openshift/teardown.done ]]; then echo '{HANDED_OVER}'; exit 0; fi\n"
    );
    for action in actions {
        let _ = writeln!(script, "# {}\n{}", action.what, action.command);
    }
    script
}
