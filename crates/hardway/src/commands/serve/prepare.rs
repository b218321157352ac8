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

use super::folder::Folder;
use crate::cli::{Face, ServeArgs};
use crate::report::{EXIT_USAGE, Report};

/// What is served, from where, and how.
pub(super) struct Prepared {
    /// For face host: what its tokens are checked with.
    pub(super) token_key: Option<TokenKey>,
    pub(super) pool: Option<PoolFace>,
    pub(super) is_hosted: bool,
    pub(super) addresses: Vec<SocketAddr>,
    /// Empty for plain HTTP.
    pub(super) certificates: Vec<CertificateFiles>,
    /// If one is used.
    pub(super) folder: Option<Folder>,
    /// Where it is written down who fetched what. Only a replica of face hosted has no working folder to write to.
    pub(super) journal: Option<PathBuf>,
    pub(super) limits: Limits,
    pub(super) boot: Option<Boot>,
}

/// What machines boot from over the network.
pub(super) struct Boot {
    pub(super) address: SocketAddr,
    pub(super) folder: BootFolder,
}

/// Reads and checks. Face host or pool needs the working folder.
pub(super) fn prepare(
    dir: &Path,
    folder: Option<Folder>,
    args: &ServeArgs,
    warn: &dyn Fn(&str),
) -> Result<Prepared, Report> {
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
    let boot = args.boot.map(|address| open_boot_folder(dir, args, address, warn)).transpose()?;
    let port = folder.as_ref().and_then(Folder::url).map_or(DEFAULT_PORT, |url| url.port);
    let everywhere = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let with_folder = |face| folder.as_ref().filter(|_| has(face));
    Ok(Prepared {
        token_key: with_folder(Face::Host).map(|folder| folder.token_key(args.plain_http)).transpose()?,
        pool: with_folder(Face::Pool).map(|folder| folder.pools(warn)).transpose()?,
        is_hosted: has(Face::Hosted),
        addresses: if args.listen.is_empty() { vec![everywhere] } else { args.listen.clone() },
        certificates: certificates(folder.as_ref(), args)?,
        journal: (folder.is_some() || dir.join("inventory.yaml").exists()).then(|| dir.join(FILE_NAME)),
        folder,
        limits,
        boot,
    })
}

/// Whether anything of the working folder is served.
pub(super) fn needs_folder(args: &ServeArgs) -> bool {
    args.face.contains(&Face::Host) || args.face.contains(&Face::Pool)
}

fn open_boot_folder(
    dir: &Path,
    args: &ServeArgs,
    address: SocketAddr,
    warn: &dyn Fn(&str),
) -> Result<Boot, Report> {
    let path = args.boot_folder.clone().unwrap_or_else(|| dir.join("pxe"));
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
            Ok(config) if hash_in(&config).is_none() => warn(&format!(
                "the whole config of {host}, keys and pull secret, goes over plain HTTP to whoever asks"
            )),
            Ok(_) => {}
            Err(_) => warn(&format!(
                "the config of {host} is not in {}: whether its installer came is not seen here, and it is installed at \
                 every boot from the network until its node has joined",
                path.display()
            )),
        }
    }
    Ok(Boot { address, folder })
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

pub(super) fn usage(what: &str) -> Report {
    Report::new("usage", what).exit(EXIT_USAGE)
}

pub(super) fn unprepared(what: &str) -> Report {
    Report::new("serve-unprepared", what).exit(EXIT_USAGE).fix("run `hardway create ignition-configs` first")
}
