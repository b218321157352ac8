//! `hardway gather bootstrap`

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};
use hardway_cluster::bootstrap_progress::{KnownHost, Login, Remote};
use hardway_cluster::gather::{Gathered, Master};
use serde_json::json;

use crate::cli::{Format, GatherArgs, GatherBootstrapArgs, GatherVerb, Global};
use crate::cluster::{BundleSource, gather_bundle, known_host, resolve};
use crate::inputs::Workdir;
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report, is_there};
use crate::terminal::Output;

/// Fetches a bundle to the working directory. Nothing stays behind on the hosts, and none of them gets a way to another.
pub(crate) fn run(global: &Global, args: &GatherArgs, out: &Output) -> Result<Exit, Report> {
    let GatherVerb::Bootstrap(args) = &args.verb;
    let workdir = Workdir::open(&global.dir)?;
    args.key.as_deref().map_or(Ok(()), is_there)?;
    args.known_hosts.as_deref().map_or(Ok(()), is_there)?;
    let site = Site::look(&workdir, args, out)?;
    let (masters, unknown) = site.masters();
    let source = BundleSource { host: site.bootstrap()?, login: site.login(), masters, unknown };
    let (name, gathered) = gather_bundle(&workdir, source, out)?;
    show(&workdir, &name, &gathered, args.output, out);
    Ok(Exit::Done)
}

/// Which hosts there are, and what they are known by.
struct Site<'a> {
    workdir: &'a Workdir,
    args: &'a GatherBootstrapArgs,
    /// None in a folder without input files that can be used, such as openshift-install's.
    cluster: Option<Cluster>,
}

impl<'a> Site<'a> {
    /// Where the bootstrap host is named, the input files may be missing or wrong: their mistakes are then no matter here.
    fn look(workdir: &'a Workdir, args: &'a GatherBootstrapArgs, out: &Output) -> Result<Self, Report> {
        let cluster = || {
            Checked::load(workdir, Reach::Here(None), out)
                .and_then(|files| project::cluster_of(workdir, files))
        };
        let cluster = match args.bootstrap {
            None => Some(cluster()?),
            Some(_) => cluster().ok(),
        };
        Ok(Self { workdir, args, cluster })
    }

    /// As named, or as the inventory says. Its key is that of the inventory's bootstrap host in both cases.
    fn bootstrap(&self) -> Result<KnownHost, Report> {
        let named = self.args.bootstrap.clone();
        let of_inventory = self.cluster.as_ref().map(|cluster| (cluster, cluster.bootstrap_host()));
        let address = match (&named, of_inventory) {
            (Some(named), _) => named.clone(),
            (None, Some((cluster, _))) => cluster.bootstrap_ip().to_string(),
            (None, None) => {
                return Err(Report::new(Code::Usage, "which host is the bootstrap host is not known"));
            }
        };
        if named.is_some() {
            resolve(&address).map_err(|why| {
                Report::new(Code::Usage, format!("--bootstrap {address}: {why}")).fix("give its address")
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
        let wanted: Vec<String> = match self.args.master.is_empty() {
            true => of_inventory.map(|host| host.name.clone()).collect(),
            false => self.args.master.clone(),
        };
        let (mut masters, mut unknown) = (Vec::new(), Vec::new());
        for wanted in wanted {
            match self.master(&wanted) {
                Ok(host) => {
                    let remote = Remote::ssh(host, &self.login());
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
            Some((_, _, false)) if self.args.known_hosts.is_none() => {
                let what = "it boots from a stock pointer and draws its own ssh key, which nobody knows beforehand: give a file that has it with --known-hosts";
                Err(Report::new(Code::GatherFailed, what))
            }
            Some((name, address, _)) => self.known(&name, address),
            None => self.known(wanted, wanted.to_owned()),
        }
    }

    /// By the folder's `auth/known_hosts`, or by the file that the user gives, which ssh reads as it always does.
    fn known(&self, name: &str, address: String) -> Result<KnownHost, Report> {
        match &self.args.known_hosts {
            Some(file) => Ok(KnownHost { address, known_hosts: file.clone(), name: None, fingerprint: None }),
            None => known_host(self.workdir, name, address, Code::GatherFailed)
                .map_err(|report| report.exit(Exit::Config)),
        }
    }

    fn login(&self) -> Login {
        let GatherBootstrapArgs { ssh_user, ssh_port, key, .. } = self.args;
        Login { user: ssh_user.clone(), port: *ssh_port, key: key.clone(), offers_only_key: false }
    }
}

fn show(workdir: &Workdir, name: &str, gathered: &Gathered, format: Format, out: &Output) {
    let Gathered { files, redacted, left_out, missing } = gathered;
    match format {
        Format::Text => out.data(&format!("{}\n", workdir.shown(name))),
        format => out.value(&json!({"bundle": workdir.shown(name), "files": files, "redacted": redacted, "leftOut": left_out, "missing": missing}), format),
    }
    missing.iter().for_each(|master| out.warn(&format!("not in the bundle, or not all of it: {master}")));
    out.info(&format!(
        "{files} files, of which {redacted} had something taken out; {} left out",
        left_out.len()
    ));
    out.info(&format!("look into it with: hardway diagnose --bundle {}", workdir.shown(name)));
}
