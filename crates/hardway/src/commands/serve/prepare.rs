//! Everything that can be wrong before the first byte is served.

use std::collections::BTreeMap;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use hardway_assets::Cluster;
use hardway_assets::graph::Inputs;
use hardway_assets::ignition::{TokenKey, first_boot_config, pool_config};
use hardway_assets::install_media::hash_in;
use hardway_assets::inventory::{DEFAULT_PORT, Role, ServerUrl};
use hardway_assets::pki::catalogue::IGNITION_SERVER;
use hardway_assets::secrets::{SecretBundle, TOKEN_KEY};
use hardway_machines::ignition_server::faces::{HostFile, Pool, PoolFace};
use hardway_machines::ignition_server::{CertificateFiles, Limits};
use hardway_machines::install_media::BootFolder;

use crate::cli::{Face, Global, ServeArgs};
use crate::input::Checked;
use crate::output::Output;
use crate::release_choice::Reach;
use crate::report::{EXIT_USAGE, Report};
use crate::workdir::Workdir;

/// What is served, from where, and how.
pub(super) struct Prepared {
    pub(super) hosts: Option<Hosts>,
    pub(super) pool: Option<PoolFace>,
    pub(super) is_hosted: bool,
    pub(super) addresses: Vec<SocketAddr>,
    /// Empty for plain HTTP.
    pub(super) certificates: Vec<CertificateFiles>,
    /// Of the working folder, if one is used.
    pub(super) journal: Option<PathBuf>,
    pub(super) limits: Limits,
    pub(super) boot: Option<Boot>,
}

/// What machines boot from over the network.
pub(super) struct Boot {
    pub(super) address: SocketAddr,
    pub(super) folder: BootFolder,
}

/// The hosts of the inventory.
pub(super) struct Hosts {
    pub(super) files: Vec<HostFile>,
    pub(super) roles: BTreeMap<String, Role>,
    pub(super) key: TokenKey,
}

/// Reads and checks.
pub(super) fn prepare(global: &Global, args: &ServeArgs, out: &Output) -> Result<Prepared, Report> {
    let has = |face| args.face.contains(&face);
    if args.plain_http && (has(Face::Pool) || has(Face::Hosted)) {
        return Err(usage(
            "--plain-http goes with --face host only: pointers of the other faces carry no hash",
        )
        .fix("serve these faces with a certificate: --certificate FILE --key FILE"));
    }
    let limits = Limits {
        connections: args.max_connections as usize,
        // One source may not take the place of all others.
        connections_per_source: (args.max_connections as usize * 3 / 4).max(1),
        ..Limits::default()
    };
    let folder =
        if has(Face::Host) || has(Face::Pool) { Some(Folder::open(global, args, out)?) } else { None };
    let boot = args.boot.map(|address| open_boot_folder(global, args, address, out)).transpose()?;
    let port = folder.as_ref().and_then(Folder::url).map_or(DEFAULT_PORT, |url| url.port);
    let everywhere = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    Ok(Prepared {
        hosts: folder.as_ref().filter(|_| has(Face::Host)).map(|folder| folder.hosts(args)).transpose()?,
        pool: folder.as_ref().filter(|_| has(Face::Pool)).map(|folder| folder.pools(out)).transpose()?,
        is_hosted: has(Face::Hosted),
        addresses: if args.listen.is_empty() { vec![everywhere] } else { args.listen.clone() },
        certificates: certificates(folder.as_ref(), args)?,
        journal: folder.map(|folder| folder.workdir.path(hardway_journal::FILE_NAME)),
        limits,
        boot,
    })
}

fn open_boot_folder(
    global: &Global,
    args: &ServeArgs,
    address: SocketAddr,
    out: &Output,
) -> Result<Boot, Report> {
    let path = args.boot_folder.clone().unwrap_or_else(|| global.dir.join("pxe"));
    let folder = BootFolder::open(&path).map_err(|error| {
        unprepared(&Report::from_error("serve-unprepared", &error).what)
            .fix(format!("write it with `hardway media pxe --url http://{address}`"))
    })?;
    let is_known = |host: &String| folder.hosts().any(|(_, known)| known == host);
    if let Some(stranger) = args.reinstall.iter().find(|host| !is_known(host)) {
        return Err(usage(&format!("--reinstall {stranger}: {} has no host of that name", path.display())));
    }
    for (_, host) in folder.hosts() {
        match fs_err::read(path.join(format!("ignition/{host}.ign"))) {
            Ok(config) if hash_in(&config).is_none() => out.warn(&format!(
                "the whole config of {host}, keys and pull secret, goes over plain HTTP to whoever asks"
            )),
            Ok(_) => {}
            Err(_) => out.warn(&format!(
                "the config of {host} is not in {}: whether its installer came is not seen here, and it is installed at \
                 every boot from the network until its node has joined",
                path.display()
            )),
        }
    }
    Ok(Boot { address, folder })
}

/// The working folder and what is in it.
struct Folder {
    workdir: Workdir,
    cluster: Cluster,
    release: hardway_assets::release_payload::ReleasePayload,
    secrets: SecretBundle,
}

impl Folder {
    fn open(global: &Global, args: &ServeArgs, out: &Output) -> Result<Self, Report> {
        let workdir = Workdir::open(&global.dir)?;
        let checked = Checked::load(&workdir, Reach::Here(args.release_dir.as_deref()), out)?;
        let secrets = workdir.secrets()?;
        let identity = secrets.identity().map_err(|error| unprepared(&error.to_string()))?;
        let cluster = Cluster { config: checked.config, inventory: checked.inventory, identity };
        Ok(Self { workdir, cluster, release: checked.release.payload, secrets })
    }

    fn url(&self) -> Option<&ServerUrl> {
        self.cluster.inventory.ignition_server.url.as_ref()
    }

    fn hosts(&self, args: &ServeArgs) -> Result<Hosts, Report> {
        let Some(url) = self.url() else {
            return Err(unprepared("inventory.yaml does not say where hosts reach this server")
                .fix("set ignitionServer: {url: https://ADDRESS:22624}, run `hardway create ignition-configs`, serve again"));
        };
        if url.is_https == args.plain_http {
            let (says, flag) = if url.is_https {
                ("https", "leave out --plain-http")
            } else {
                ("http", "give --plain-http")
            };
            return Err(usage(&format!("the pointers of the hosts say {url}, which is {says}")).fix(
                format!("{flag}, or change ignitionServer.url and run `hardway create ignition-configs`"),
            ));
        }
        let key = self.secrets.get(TOKEN_KEY).map_err(|error| unprepared(&error.to_string()))?;
        let hosts = &self.cluster.inventory.hosts;
        let file = |host: &hardway_assets::inventory::Host| HostFile {
            name: host.name.clone(),
            addresses: host.ip.clone(),
            path: self.workdir.path(&first_boot_config(&self.cluster, host)),
        };
        Ok(Hosts {
            files: hosts.iter().map(file).collect(),
            roles: hosts.iter().map(|host| (host.name.clone(), host.role)).collect(),
            key: TokenKey::new(key),
        })
    }

    fn pools(&self, out: &Output) -> Result<PoolFace, Report> {
        let tree = self.workdir.tree()?;
        let inputs =
            Inputs { cluster: &self.cluster, release: &self.release, secrets: &self.secrets, tree: &tree };
        let failed = |error: &dyn std::error::Error| Report::from_error("asset-failed", error);
        let contract = inputs.version_contract().map_err(|error| failed(&error))?;
        let newest_minor = if contract.serves_ignition_3_5() { 5 } else { 4 };
        let mut pools = BTreeMap::new();
        for role in [Role::Master, Role::Worker] {
            match pool_config(&inputs, role).map_err(|error| failed(&error))? {
                Some(config) => {
                    pools.insert(role.name().to_owned(), Pool::new(&config, newest_minor));
                }
                None => out.warn(&format!(
                    "the release has no rendered MachineConfig for pool {role}: machines that ask for it are told to wait"
                )),
            }
        }
        Ok(PoolFace::new(pools))
    }
}

/// What was given, else the working folder's: the server's own, and for stock pointers the one that api-int's name needs.
fn certificates(folder: Option<&Folder>, args: &ServeArgs) -> Result<Vec<CertificateFiles>, Report> {
    if args.plain_http {
        return Ok(Vec::new());
    }
    if let (Some(certificate), Some(key)) = (&args.certificate, &args.key) {
        return Ok(vec![CertificateFiles { certificate: certificate.clone(), key: key.clone(), name: None }]);
    }
    let Some(folder) = folder else {
        return Err(usage("--face hosted needs a certificate that its workers trust")
            .fix("give --certificate FILE --key FILE; in HyperShift: Secret ignition-server-serving-cert"));
    };
    let files = |base: &str, name| CertificateFiles {
        certificate: folder.workdir.path(&format!("pki/{base}.crt")),
        key: folder.workdir.path(&format!("secrets/{base}.key")),
        name,
    };
    let mut certificates = Vec::new();
    if args.face.contains(&Face::Host) || args.face.contains(&Face::Hosted) {
        certificates.push(files(IGNITION_SERVER, None));
    }
    if args.face.contains(&Face::Pool) {
        certificates.push(files("machine-config-server", Some(folder.cluster.api_int_host())));
    }
    if let Some(missing) =
        certificates.iter().flat_map(|f| [&f.certificate, &f.key]).find(|path| !path.exists())
    {
        return Err(unprepared(&format!("{} is not there", missing.display())));
    }
    Ok(certificates)
}

fn usage(what: &str) -> Report {
    Report::new("usage", what).exit(EXIT_USAGE)
}

fn unprepared(what: &str) -> Report {
    Report::new("serve-unprepared", what).exit(EXIT_USAGE).fix("run `hardway create ignition-configs` first")
}
