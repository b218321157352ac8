//! Everything that can be wrong before the first byte is served.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use hardway_assets::hosted_inventory::{self, HostedInventory};
use hardway_assets::ignition::TokenKey;
use hardway_assets::input_tables::{HOSTED_INVENTORY, INVENTORY};
use hardway_assets::install_media::hash_in;
use hardway_assets::inventory::{self, DEFAULT_PORT};
use hardway_assets::pki::catalogue::IGNITION_SERVER;
use hardway_assets::work_paths;
use hardway_journal::{FILE_NAME, Face};
use hardway_machines::ignition_server::faces::PoolFace;
use hardway_machines::ignition_server::{CertificateFiles, Limits};
use hardway_machines::install_media::BootFolder;
use hardway_machines::media_paths::MediaPaths;

use super::folder::ServedFolder;
use super::media_paths::media_paths;
use super::options::{Certificate, ServeOptions};
use crate::inputs::Workdir;
use crate::report::{Code, Report};

/// What is served, from where, and how.
pub(crate) struct Prepared {
    /// For face host: what its tokens are checked with.
    pub(crate) token_key: Option<TokenKey>,
    pub(crate) pool: Option<PoolFace>,
    pub(crate) is_hosted: bool,
    /// Addresses of hosts that can be hosted workers.
    pub(crate) workers: Vec<IpAddr>,
    pub(crate) addresses: Vec<SocketAddr>,
    /// Empty for plain HTTP.
    pub(crate) certificates: Vec<CertificateFiles>,
    /// If one is used.
    pub(crate) folder: Option<ServedFolder>,
    /// Where it is written down who fetched what. Only a replica of face hosted has no working folder to write to.
    pub(crate) journal: Option<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) boot: Option<NetworkBoot>,
}

/// What machines boot from over the network.
pub(crate) struct NetworkBoot {
    pub(crate) address: SocketAddr,
    pub(crate) folder: BootFolder,
    pub(crate) paths: MediaPaths,
}

/// Reads and checks. Face host or pool needs the working folder.
pub(crate) fn prepare(
    dir: &Path,
    folder: Option<ServedFolder>,
    options: &ServeOptions,
    warn: &dyn Fn(&str),
) -> Result<Prepared, Report> {
    let has = |face| options.faces.contains(&face);
    if options.plain_http && (has(Face::Pool) || has(Face::Hosted)) {
        return Err(usage(
            "--plain-http only works with --face host: pointers of the other faces carry no hash",
        )
        .fix("serve these faces with a certificate: --certificate FILE --key FILE"));
    }
    let limits = Limits {
        connections: options.max_connections,
        // One source may not take the place of all others.
        connections_per_source: (options.max_connections * 3 / 4).max(1),
        ..Limits::default()
    };
    let boot = options.boot.map(|address| open_boot_folder(dir, options, address, warn)).transpose()?;
    let port = folder.as_ref().and_then(ServedFolder::url).map_or(DEFAULT_PORT, |url| url.port);
    let everywhere = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let with_folder = |face| folder.as_ref().filter(|_| has(face));
    Ok(Prepared {
        token_key: with_folder(Face::Host).map(|folder| folder.token_key(options.plain_http)).transpose()?,
        pool: with_folder(Face::Pool).map(|folder| folder.pools(warn)).transpose()?,
        is_hosted: has(Face::Hosted),
        workers: if has(Face::Hosted) { worker_addresses(dir) } else { Vec::new() },
        addresses: if options.listen.is_empty() { vec![everywhere] } else { options.listen.clone() },
        certificates: certificates(folder.as_ref(), options)?,
        journal: (folder.is_some() || has_inventory(dir)).then(|| dir.join(FILE_NAME)),
        folder,
        limits,
        boot,
    })
}

/// Whether machines are made from this folder: then a controller looks in its journal for who fetched what.
fn has_inventory(dir: &Path) -> bool {
    [INVENTORY.file, HOSTED_INVENTORY.file].iter().any(|name| dir.join(name).exists())
}

/// Of the inventory, where there is one that can be read. It need not fit an install-config: a hosted cluster has none.
fn worker_addresses(dir: &Path) -> Vec<IpAddr> {
    let read = |name: &str| fs_err::read_to_string(dir.join(name));
    if let Ok(text) = read(HOSTED_INVENTORY.file) {
        let hosted = hosted_inventory::read(&text).map(|read| read.value);
        return hosted.iter().flat_map(HostedInventory::hosts).flat_map(|one| one.host.ip.clone()).collect();
    }
    let text = read(INVENTORY.file).unwrap_or_default();
    let hosts = inventory::read(&text, None).map(|read| read.value.hosts).unwrap_or_default();
    hosts.into_iter().flat_map(|host| host.ip).collect()
}

/// Whether anything of the working folder is served, or must be known: who may have what hosts boot from.
pub(crate) fn needs_folder(options: &ServeOptions) -> bool {
    options.faces.contains(&Face::Host) || options.faces.contains(&Face::Pool) || options.boot.is_some()
}

fn open_boot_folder(
    dir: &Path,
    options: &ServeOptions,
    address: SocketAddr,
    warn: &dyn Fn(&str),
) -> Result<NetworkBoot, Report> {
    let path = options.boot_folder.clone().unwrap_or_else(|| dir.join(work_paths::PXE));
    let folder = BootFolder::open(&path).map_err(|error| {
        unprepared(&Report::from_error(Code::ServeUnprepared, &error).what)
            .fix(format!("write it with `hardway media pxe --url http://{address}`"))
    })?;
    let is_known = |host: &String| folder.hosts().any(|(_, known)| known == host);
    if let Some(stranger) = options.reinstall.iter().find(|host| !is_known(host)) {
        return Err(usage(&format!("--reinstall {stranger}: {} has no host of that name", path.display())));
    }
    for (_, host) in folder.hosts() {
        match fs_err::read(path.join(work_paths::host_config(host))) {
            Ok(config) if hash_in(&config).is_none() => warn(&format!(
                "the complete config of {host}, with keys and pull secret, is served unencrypted over HTTP"
            )),
            Ok(_) => {}
            Err(_) => warn(&format!(
                "the config of {host} is not in {}: hardway cannot see its installer, and reinstalls the host at every network \
                 boot until its node has joined",
                path.display()
            )),
        }
    }
    Ok(NetworkBoot { address, folder, paths: media_paths(&Workdir::open(dir)?)? })
}

/// What was given, else the working folder's: the server's own, and for stock pointers the one that api-int's name needs.
fn certificates(
    folder: Option<&ServedFolder>,
    options: &ServeOptions,
) -> Result<Vec<CertificateFiles>, Report> {
    if options.plain_http {
        return Ok(Vec::new());
    }
    if let Some(Certificate { certificate, key }) = &options.certificate {
        return Ok(vec![CertificateFiles { certificate: certificate.clone(), key: key.clone(), name: None }]);
    }
    let Some(folder) = folder else {
        return Err(usage("--face hosted needs a certificate that its workers trust")
            .fix("pass --certificate FILE --key FILE; in HyperShift: Secret ignition-server-serving-cert"));
    };
    let files = |base: &str, name| CertificateFiles {
        certificate: folder.workdir.path(&format!("pki/{base}.crt")),
        key: folder.workdir.path(&work_paths::key(base)),
        name,
    };
    let mut certificates = Vec::new();
    if options.faces.contains(&Face::Host) || options.faces.contains(&Face::Hosted) {
        certificates.push(files(IGNITION_SERVER, None));
    }
    if options.faces.contains(&Face::Pool) {
        certificates.push(files("machine-config-server", Some(folder.cluster.api_int_host())));
    }
    if let Some(missing) =
        certificates.iter().flat_map(|f| [&f.certificate, &f.key]).find(|path| !path.exists())
    {
        return Err(unprepared(&format!("{} does not exist", missing.display())));
    }
    Ok(certificates)
}

pub(crate) fn usage(what: &str) -> Report {
    Report::new(Code::Usage, what)
}

pub(crate) fn unprepared(what: &str) -> Report {
    Report::new(Code::ServeUnprepared, what).fix("run `hardway create ignition-configs` first")
}
