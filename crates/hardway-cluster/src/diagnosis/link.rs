//! The chain that an install hangs on, from the files to a cluster that works.

use std::fmt;

use serde::Serialize;

/// A stretch of the chain. What comes later needs what comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// Files of the working directory.
    Folder,
    /// The host that carries the machines.
    Host,
    /// DNS.
    Names,
    /// What stands before the API and the routers.
    LoadBalancer,
    /// Putting the system on disks.
    OsInstall,
    /// First boots.
    Ignition,
    /// The bootstrap host.
    Bootstrap,
    /// The API, seen from here.
    Api,
    /// Machines that become nodes.
    Nodes,
    /// The masters' own control plane.
    ControlPlane,
    /// Operators, and access for people.
    Operators,
}

impl Link {
    /// In output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Host => "host",
            Self::Names => "names",
            Self::LoadBalancer => "load-balancer",
            Self::OsInstall => "os-install",
            Self::Ignition => "ignition",
            Self::Bootstrap => "bootstrap",
            Self::Api => "api",
            Self::Nodes => "nodes",
            Self::ControlPlane => "control-plane",
            Self::Operators => "operators",
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
