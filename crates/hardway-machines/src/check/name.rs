//! The names of all checks, in the order in which they are shown. What each asks and why stands in `explanations/checks.md`,
//! and only there.

use std::fmt;

use serde::{Serialize, Serializer};

use self::Group::{Balancer, Capacity, Certificates, Host, Names, Network, Registry};

macro_rules! check_names {
    ($($variant:ident $name:literal $group:ident,)+) => {
        /// The name of a check, on the command line, in output and in the explanations. Never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CheckName {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl CheckName {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As people write it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What the check is about.
            pub const fn group(self) -> Group {
                match self {
                    $(Self::$variant => $group,)+
                }
            }
        }
    };
}

check_names! {
    InventoryComplete "inventory-complete" Host,
    Root "root" Host,
    Programs "programs" Host,
    ContainerRuntime "container-runtime" Host,
    Inotify "inotify" Host,
    Kernel "kernel" Host,
    LabFiles "lab-files" Host,
    Libvirt "libvirt" Host,
    Kvm "kvm" Host,
    Processor "processor" Host,
    LibvirtPool "libvirt-pool" Host,
    Gcloud "gcloud" Host,
    Clock "clock" Host,
    NamesServer "names-server" Names,
    NamesRecords "names-records" Names,
    NamesApps "names-apps" Names,
    NamesReverse "names-reverse" Names,
    NamesSearch "names-search" Names,
    NamesOutside "names-outside" Names,
    NamesHost "names-host" Names,
    BalancerApi "balancer-api" Balancer,
    BalancerMachineConfigServer "balancer-machine-config-server" Balancer,
    BalancerIngressHttps "balancer-ingress-https" Balancer,
    BalancerIngressHttp "balancer-ingress-http" Balancer,
    Ports "ports" Network,
    VirtualAddresses "virtual-addresses" Network,
    Subnet "subnet" Network,
    Addresses "addresses" Network,
    Bmc "bmc" Network,
    ReleaseImage "release-image" Registry,
    Mirrors "mirrors" Registry,
    Images "images" Registry,
    ClockSkew "clock-skew" Registry,
    Memory "memory" Capacity,
    Processors "processors" Capacity,
    DiskSpace "disk-space" Capacity,
    DiskLatency "disk-latency" Capacity,
    MachineSizes "machine-sizes" Capacity,
    Certificates "certificates" Certificates,
}

/// The names that a name server has to know, for providers whose names can be asked for from here.
pub(crate) const NAMES: &[CheckName] = &[
    CheckName::NamesServer,
    CheckName::NamesRecords,
    CheckName::NamesApps,
    CheckName::NamesReverse,
    CheckName::NamesSearch,
    CheckName::NamesOutside,
    CheckName::NamesHost,
];

/// Whether machines fit on this host, for providers that make them here.
pub(crate) const FITS: &[CheckName] =
    &[CheckName::Memory, CheckName::Processors, CheckName::DiskSpace, CheckName::DiskLatency];

/// What checks are about, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Programs and rights on this host.
    Host,
    /// DNS.
    Names,
    /// What stands in front of the API and the routers.
    Balancer,
    /// Addresses and ports.
    Network,
    /// Where the release comes from.
    Registry,
    /// Whether the machines fit.
    Capacity,
    /// What lies in the working folder already.
    Certificates,
}

impl Group {
    /// In output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balancer => "balancer",
            Self::Capacity => "capacity",
            Self::Certificates => "certificates",
            Self::Host => "host",
            Self::Names => "names",
            Self::Network => "network",
            Self::Registry => "registry",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl CheckName {
    /// The check of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|check| check.as_str() == name)
    }
}

impl fmt::Display for CheckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for CheckName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
