//! The catalogue of steps: a row each.

use serde::Serialize;

/// A step of day two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DayTwoStep {
    /// Who may log in, and who of them is an administrator.
    Identity,
    /// The first user goes.
    KubeadminGone,
    /// Certificates of the organisation.
    Certificates,
    /// CAs of the organisation.
    Trust,
    /// The way out.
    Proxy,
    /// Who tells the time.
    Time,
    /// Who may log in to nodes.
    SshKeys,
    /// Credentials for registries.
    PullSecret,
    /// A registry that keeps what it is given.
    Registry,
    /// Metrics that outlive a pod.
    Monitoring,
}

/// What is known of a step beforehand.
#[derive(Clone, Copy, Debug)]
pub struct StepRow {
    /// As people type it.
    pub name: &'static str,
    /// Its settings, below `day2` in the inventory; none where it has none.
    pub section: Option<&'static str>,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// What has to be there before, in a sentence; empty if nothing.
    pub needs: &'static str,
    /// The way back, in a sentence.
    pub back: &'static str,
    /// ClusterOperators that roll it out: it is done when they are at rest.
    pub operators: &'static [&'static str],
    /// What the machine-config-operator does to nodes because of it.
    pub nodes: NodeEffect,
    /// Whether fields that somebody else has written are what it is there to change.
    pub takes_over: bool,
    /// Whether nobody can take it back.
    pub is_final: bool,
}

/// What the machine-config-operator does to every node of a pool (release-4.18: `calculatePostConfigChangeActionFromMCDiffs` in
/// pkg/daemon/update.go, and the cluster's default NodeDisruptionPolicies, which say the same).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeEffect {
    /// The change does not concern nodes.
    Nothing,
    /// A file changes, and nothing is restarted.
    WithoutDisruption,
    /// The container runtime is restarted: running containers go on, and nothing is drained.
    RestartsRuntime,
    /// Each is drained and rebooted.
    Reboots,
}

impl DayTwoStep {
    /// All of them, in the order in which they are best taken.
    pub const ALL: [Self; 10] = [
        Self::Trust,
        Self::Proxy,
        Self::Time,
        Self::SshKeys,
        Self::PullSecret,
        Self::Identity,
        Self::KubeadminGone,
        Self::Certificates,
        Self::Registry,
        Self::Monitoring,
    ];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }

    /// As people type it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What is known of it beforehand.
    pub fn row(self) -> &'static StepRow {
        match self {
            Self::Identity => &IDENTITY,
            Self::KubeadminGone => &KUBEADMIN_GONE,
            Self::Certificates => &CERTIFICATES,
            Self::Trust => &TRUST,
            Self::Proxy => &PROXY,
            Self::Time => &TIME,
            Self::SshKeys => &SSH_KEYS,
            Self::PullSecret => &PULL_SECRET,
            Self::Registry => &REGISTRY,
            Self::Monitoring => &MONITORING,
        }
    }
}

const ROW: StepRow = StepRow {
    name: "",
    section: None,
    what: "",
    needs: "",
    back: "what was created is deleted, and what was changed gets its former values back",
    operators: &[],
    nodes: NodeEffect::Nothing,
    takes_over: false,
    is_final: false,
};

static IDENTITY: StepRow = StepRow {
    name: "identity",
    section: Some("identity"),
    what: "People log in with accounts of their own, and one of them is cluster-admin",
    needs: "for LDAP and OpenID Connect, a server that this host and the cluster can reach",
    operators: &["authentication"],
    ..ROW
};

static KUBEADMIN_GONE: StepRow = StepRow {
    name: "kubeadmin-gone",
    what: "The password of the first user, kubeadmin, stops working",
    needs: "identity, and a token of the administrator, who has logged in with it",
    back: "none: OpenShift ignores a kubeadmin Secret that is created more than an hour after the cluster",
    operators: &["authentication"],
    is_final: true,
    ..ROW
};

static CERTIFICATES: StepRow = StepRow {
    name: "certificates",
    section: Some("certificates"),
    what: "API and routes show certificates that people's computers trust already",
    needs: "certificates with their chains and keys, for api.<domain> and *.apps.<domain>",
    operators: &["kube-apiserver", "ingress"],
    ..ROW
};

static TRUST: StepRow = StepRow {
    name: "trust",
    section: Some("trust"),
    what: "Nodes and operators trust CAs of the organisation",
    operators: &["network", "machine-config"],
    nodes: NodeEffect::RestartsRuntime,
    ..ROW
};

static PROXY: StepRow = StepRow {
    name: "proxy",
    section: Some("proxy"),
    what: "Nodes and operators reach the outside through a proxy",
    needs: "a proxy that all nodes can reach; trust first, if it shows certificates of its own",
    operators: &["network", "machine-config"],
    nodes: NodeEffect::Reboots,
    ..ROW
};

static TIME: StepRow = StepRow {
    name: "time",
    section: Some("time"),
    what: "Nodes ask time servers of the organisation",
    needs: "time servers that all nodes can reach",
    operators: &["machine-config"],
    nodes: NodeEffect::Reboots,
    ..ROW
};

static SSH_KEYS: StepRow = StepRow {
    name: "ssh-keys",
    section: Some("sshKeys"),
    what: "More people can log in to nodes as core",
    operators: &["machine-config"],
    nodes: NodeEffect::WithoutDisruption,
    ..ROW
};

static PULL_SECRET: StepRow = StepRow {
    name: "pull-secret",
    section: Some("pullSecret"),
    what: "Nodes log in to registries with other credentials",
    operators: &["machine-config"],
    nodes: NodeEffect::WithoutDisruption,
    // The install wrote the one that is replaced.
    takes_over: true,
    ..ROW
};

static REGISTRY: StepRow = StepRow {
    name: "registry",
    section: Some("registry"),
    what: "The image registry runs, and keeps its images on a volume",
    needs: "a StorageClass: the default one, or the one that is named",
    back: "the registry gets its former settings back, and its volume is deleted with the images on it",
    operators: &["image-registry"],
    // On platform none the operator itself has set the registry to Removed.
    takes_over: true,
    ..ROW
};

static MONITORING: StepRow = StepRow {
    name: "monitoring",
    section: Some("monitoring"),
    what: "Metrics and alerts are kept on volumes, for as long as they are wanted",
    needs: "a StorageClass: the default one, or the one that is named",
    operators: &["monitoring"],
    ..ROW
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_listed_once_and_says_what_it_does() {
        for step in DayTwoStep::ALL {
            assert_eq!(DayTwoStep::named(step.name()), Some(step));
            let row = step.row();
            assert!(!row.what.is_empty() && !row.back.is_empty(), "{}", row.name);
        }
        assert_eq!(DayTwoStep::named("nothing"), None);
    }
}
