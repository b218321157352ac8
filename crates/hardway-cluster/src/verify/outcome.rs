//! The checks, and how each ended.

use std::fmt;

use hardway_base::Judged;
use serde::Serialize;

macro_rules! checks {
    ($($check:ident = $name:literal, $asks:literal;)+) => {
        /// Every check, in the order in which they are run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Check {
            $(#[doc = $asks] #[serde(rename = $name)] $check,)+
        }

        impl Check {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$check),+];

            /// On the command line and in output.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$check => $name,)+
                }
            }

            /// What it asks.
            pub fn asks(self) -> &'static str {
                match self {
                    $(Self::$check => $asks,)+
                }
            }
        }
    };
}

checks! {
    Api = "api", "does the API answer?";
    Names = "names", "do api, api-int and names below apps resolve to the declared addresses, and a name that nobody has to none?";
    Certificates = "certificates", "do api and api-int present certificates that auth/kubeconfig trusts, and which expire soon?";
    Nodes = "nodes", "is every host of the inventory a Ready node with its name, role, address and version?";
    Operators = "operators", "are the ClusterVersion and every ClusterOperator available and not degraded?";
    ControlPlane = "control-plane", "do all masters run etcd, API server, controller manager and scheduler at the newest revision?";
    Masters = "masters", "does every master answer /readyz when asked directly, without the load balancer?";
    Balancer = "balancer", "does the load balancer lead to every master, and to nobody else?";
    Etcd = "etcd", "is every master a healthy voting member, and no other host?";
    Requests = "requests", "does nobody wait for a certificate?";
    Leftovers = "leftovers", "is there no kube-proxy on masters, and does the bootstrap host no longer serve?";
    Console = "console", "does the console answer at its route, with a certificate of the routers' CA?";
    ImageRegistry = "image-registry", "does the image registry have storage, and is it available?";
    Workload = "workload", "is a pod scheduled and started?";
    Logs = "logs", "can the logs of a pod be read?";
    Exec = "exec", "can a command be run in a pod?";
    Service = "service", "does a pod reach another through a Service?";
    Dns = "dns", "do names of the cluster resolve in a pod, and does one that nobody has not?";
    Route = "route", "does a Route lead to a pod, from here, through the load balancer?";
}

impl Check {
    /// The check of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }

    /// Whether the pod of the check `workload` is what is looked at.
    pub fn needs_pod(self) -> bool {
        matches!(self, Self::Logs | Self::Exec | Self::Service | Self::Dns | Self::Route)
    }

    /// Whether it has no answer without the API.
    pub(super) fn needs_api(self) -> bool {
        match self {
            Self::Api | Self::Names | Self::Certificates | Self::Etcd => false,
            Self::Nodes
            | Self::Operators
            | Self::ControlPlane
            | Self::Masters
            | Self::Balancer
            | Self::Requests
            | Self::Leftovers
            | Self::Console
            | Self::ImageRegistry
            | Self::Workload
            | Self::Logs
            | Self::Exec
            | Self::Service
            | Self::Dns
            | Self::Route => true,
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyOutcome {
    /// Of which.
    pub check: Check,
    /// How.
    #[serde(flatten)]
    pub judged: Judged,
}

impl VerifyOutcome {
    /// As it should be.
    pub fn passed(check: Check, seen: impl Into<String>) -> Self {
        Self { check, judged: Judged::passed(seen) }
    }

    /// Not asked.
    pub fn skipped(check: Check, why: impl Into<String>) -> Self {
        Self { check, judged: Judged::skipped(why) }
    }

    /// Works, but.
    pub fn warned(check: Check, seen: Vec<String>, fix: &str) -> Self {
        Self { check, judged: Judged::warned(seen, fix) }
    }

    /// Not as it should be.
    pub fn failed(check: Check, seen: Vec<String>, fix: &str) -> Self {
        Self { check, judged: Judged::failed(seen, fix) }
    }

    /// Failed if there is anything to complain about, else passed.
    pub(super) fn of(check: Check, wrong: Vec<String>, fix: &str, good: String) -> Self {
        Self { check, judged: Judged::of(wrong, Vec::new(), fix, good) }
    }
}
