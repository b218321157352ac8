//! Which hosts are asked for their logs, by what names and with which keys.

use std::path::PathBuf;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};
use hardway_cluster::gather::Master;
use hardway_cluster::remote::{KnownHost, Login, Remote};

use super::log_bundle::{BundleSource, resolve};
use super::shell::known_host;
use crate::inputs::Workdir;
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// What a person says of the hosts.
#[derive(Clone, Debug)]
pub(crate) struct GatherOptions {
    /// Name or address of the bootstrap host, in place of the inventory's.
    pub(crate) bootstrap: Option<String>,
    /// Masters by any of their names or addresses; all of the inventory where none is named.
    pub(crate) masters: Vec<String>,
    /// A file with the hosts' keys, in place of the folder's.
    pub(crate) known_hosts: Option<PathBuf>,
    pub(crate) login: Login,
}

/// Which hosts there are, and what they are known by.
pub(crate) struct GatherSite<'a> {
    workdir: &'a Workdir,
    wanted: &'a GatherOptions,
    /// None in a folder without input files that can be used, such as openshift-install's.
    cluster: Option<Cluster>,
}

impl<'a> GatherSite<'a> {
    /// Where the bootstrap host is named, the input files may be missing or wrong: their mistakes are then no matter here.
    pub(crate) fn look(
        workdir: &'a Workdir,
        wanted: &'a GatherOptions,
        out: &Output,
    ) -> Result<Self, Report> {
        let cluster =
            || Checked::load(workdir, Reach::Kept, out).and_then(|files| project::cluster_of(workdir, files));
        let cluster = match wanted.bootstrap {
            None => Some(cluster()?),
            Some(_) => cluster().ok(),
        };
        Ok(Self { workdir, wanted, cluster })
    }

    /// Whom to ask for a bundle.
    pub(crate) fn source(&self) -> Result<BundleSource, Report> {
        let (masters, unknown) = self.masters();
        Ok(BundleSource { host: self.bootstrap()?, login: self.wanted.login.clone(), masters, unknown })
    }

    /// As named, or as the inventory says. Its key is that of the inventory's bootstrap host in both cases.
    fn bootstrap(&self) -> Result<KnownHost, Report> {
        let named = self.wanted.bootstrap.clone();
        let of_inventory = self.cluster.as_ref().map(|cluster| (cluster, cluster.bootstrap_host()));
        let address = match (&named, of_inventory) {
            (Some(named), _) => named.clone(),
            (None, Some((cluster, _))) => cluster.bootstrap_ip().to_string(),
            (None, None) => {
                return Err(Report::new(Code::Usage, "the bootstrap host is unknown"));
            }
        };
        if named.is_some() {
            resolve(&address).map_err(|why| {
                Report::new(Code::Usage, format!("--bootstrap {address}: {why}")).fix("pass its address")
            })?;
        }
        let name = of_inventory.map_or_else(|| address.clone(), |(cluster, host)| cluster.node_name(host));
        self.known(&name, address)
    }

    /// Those that can be asked, and a sentence for each that cannot.
    fn masters(&self) -> (Vec<Master>, Vec<String>) {
        // A node that installs itself is the bootstrap host, and asked as that.
        let of_inventory = self.cluster.iter().filter(|cluster| !cluster.is_bootstrap_in_place());
        let of_inventory = of_inventory.flat_map(|cluster| cluster.inventory.with_role(Role::Master));
        let wanted: Vec<String> = match self.wanted.masters.is_empty() {
            true => of_inventory.map(|host| host.name.clone()).collect(),
            false => self.wanted.masters.clone(),
        };
        let (mut masters, mut unknown) = (Vec::new(), Vec::new());
        for wanted in wanted {
            match self.master(&wanted) {
                Ok(host) => {
                    let remote = Remote::ssh(host, &self.wanted.login);
                    masters.push(Master { name: wanted, remote });
                }
                Err(report) => unknown.push(format!("{wanted}: {}", report.what)),
            }
        }
        (masters, unknown)
    }

    /// By any of its names or addresses.
    fn master(&self, wanted: &str) -> Result<KnownHost, Report> {
        let found = self.cluster.as_ref().and_then(|cluster| {
            let is_it = |host: &&Host| {
                host.name == wanted
                    || cluster.node_name(host) == wanted
                    || host.ip.iter().any(|ip| ip.to_string() == wanted)
            };
            let host = cluster.inventory.hosts.iter().find(is_it)?;
            Some((cluster.node_name(host), host.ip.first()?.to_string(), host.has_own_config()))
        });
        match found {
            Some((_, _, false)) if self.wanted.known_hosts.is_none() => {
                let what = "it boots from a stock pointer and generates its own ssh host key: pass a file with that key with \
                 --known-hosts";
                Err(Report::new(Code::GatherFailed, what))
            }
            Some((name, address, _)) => self.known(&name, address),
            None => self.known(wanted, wanted.to_owned()),
        }
    }

    /// By the folder's `auth/known_hosts`, or by the file that the user gives, which ssh reads as it always does.
    fn known(&self, name: &str, address: String) -> Result<KnownHost, Report> {
        match &self.wanted.known_hosts {
            Some(file) => Ok(KnownHost { address, known_hosts: file.clone(), name: None, fingerprint: None }),
            None => known_host(self.workdir, name, address, Code::GatherFailed)
                .map_err(|report| report.exit(Exit::Config)),
        }
    }
}
