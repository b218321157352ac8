//! Everything that can be wrong before the first byte is served.

use std::net::{Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use hardway_assets::ignition::TokenKey;
use hardway_assets::install_media::hash_in;
use hardway_assets::inventory::DEFAULT_PORT;
use hardway_assets::pki::catalogue::IGNITION_SERVER;
use hardway_journal::FILE_NAME;
use hardway_machines::ignition_server::faces::PoolFace;
use hardway_machines::ignition_server::{CertificateFiles, Limits};
use hardway_machines::install_media::BootFolder;
use hardway_machines::media_paths::MediaPaths;

use super::folder::Folder;
use super::media_paths::media_paths;
use super::options::{Certificate, Face, Options};
use crate::inputs::Workdir;
use crate::report::{Code, Report};

/// What is served, from where, and how.
pub(crate) struct Prepared {
    /// For face host: what its tokens are checked with.
    pub(crate) token_key: Option<TokenKey>,
    pub(crate) pool: Option<PoolFace>,
    pub(crate) is_hosted: bool,
    pub(crate) addresses: Vec<SocketAddr>,
    /// Empty for plain HTTP.
    pub(crate) certificates: Vec<CertificateFiles>,
    /// If one is used.
    pub(crate) folder: Option<Folder>,
    /// Where it is written down who fetched what. Only a replica of face hosted has no working folder to write to.
    pub(crate) journal: Option<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) boot: Option<Boot>,
}

/// What machines boot from over the network.
pub(crate) struct Boot {
    pub(crate) address: SocketAddr,
    pub(crate) folder: BootFolder,
    pub(crate) paths: MediaPaths,
}

/// Reads and checks. Face host or pool needs the working folder.
pub(crate) fn prepare(
    dir: &Path,
    folder: Option<Folder>,
    options: &Options,
    warn: &dyn Fn(&str),
) -> Result<Prepared, Report> {
    let has = |face| options.faces.contains(&face);
    if options.plain_http && (has(Face::Pool) || has(Face::Hosted)) {
        return Err(usage(
            "--plain-http goes with --face host only: pointers of the other faces carry no hash",
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
    let port = folder.as_ref().and_then(Folder::url).map_or(DEFAULT_PORT, |url| url.port);
    let everywhere = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let with_folder = |face| folder.as_ref().filter(|_| has(face));
    Ok(Prepared {
        token_key: with_folder(Face::Host).map(|folder| folder.token_key(options.plain_http)).transpose()?,
        pool: with_folder(Face::Pool).map(|folder| folder.pools(warn)).transpose()?,
        is_hosted: has(Face::Hosted),
        addresses: if options.listen.is_empty() { vec![everywhere] } else { options.listen.clone() },
        certificates: certificates(folder.as_ref(), options)?,
        journal: (folder.is_some() || dir.join("inventory.yaml").exists()).then(|| dir.join(FILE_NAME)),
        folder,
        limits,
        boot,
    })
}

/// Whether anything of the working folder is served.
pub(crate) fn needs_folder(options: &Options) -> bool {
    options.faces.contains(&Face::Host) || options.faces.contains(&Face::Pool)
}

fn open_boot_folder(
    dir: &Path,
    options: &Options,
    address: SocketAddr,
    warn: &dyn Fn(&str),
) -> Result<Boot, Report> {
    let path = options.boot_folder.clone().unwrap_or_else(|| dir.join("pxe"));
    let folder = BootFolder::open(&path).map_err(|error| {
        unprepared(&Report::from_error(Code::ServeUnprepared, &error).what)
            .fix(format!("write it with `hardway media pxe --url http://{address}`"))
    })?;
    let is_known = |host: &String| folder.hosts().any(|(_, known)| known == host);
    if let Some(stranger) = options.reinstall.iter().find(|host| !is_known(host)) {
        return Err(usage(&format!("--reinstall {stranger}: {} has no host of that name", path.display())));
    }
    for (_, host) in folder.hosts() {
        match fs_err::read(path.join(format!("ignition/{host}.ign"))) {
            Ok(config) if hash_in(&config).is_none() => warn(&format!(
                "the whole config of {host}, keys and pull secret, goes over plain HTTP: whoever listens on the wire reads it"
            )),
            Ok(_) => {}
            Err(_) => warn(&format!(
                "the config of {host} is not in {}: whether its installer came is not seen here, and it is installed at \
                 every boot from the network until its node has joined",
                path.display()
            )),
        }
    }
    Ok(Boot { address, folder, paths: media_paths(&Workdir::open(dir)?)? })
}

/// What was given, else the working folder's: the server's own, and for stock pointers the one that api-int's name needs.
fn certificates(folder: Option<&Folder>, options: &Options) -> Result<Vec<CertificateFiles>, Report> {
    if options.plain_http {
        return Ok(Vec::new());
    }
    if let Some(Certificate { certificate, key }) = &options.certificate {
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
    if options.faces.contains(&Face::Host) || options.faces.contains(&Face::Hosted) {
        certificates.push(files(IGNITION_SERVER, None));
    }
    if options.faces.contains(&Face::Pool) {
        certificates.push(files("machine-config-server", Some(folder.cluster.api_int_host())));
    }
    if let Some(missing) =
        certificates.iter().flat_map(|f| [&f.certificate, &f.key]).find(|path| !path.exists())
    {
        return Err(unprepared(&format!("{} is not there", missing.display())));
    }
    Ok(certificates)
}

pub(crate) fn usage(what: &str) -> Report {
    Report::new(Code::Usage, what)
}

pub(crate) fn unprepared(what: &str) -> Report {
    Report::new(Code::ServeUnprepared, what).fix("run `hardway create ignition-configs` first")
}
