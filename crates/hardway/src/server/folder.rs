//! The working folder and what is served from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::graph::Inputs;
use hardway_assets::ignition::{TokenKey, first_boot_config, pool_config};
use hardway_assets::inventory::{Host, Role, ServerUrl};
use hardway_assets::release_payload::ReleasePayload;
use hardway_assets::secrets::{SecretBundle, TOKEN_KEY};
use hardway_machines::boot_server::Addresses;
use hardway_machines::ignition_server::faces::{HostFile, Pool, PoolFace};

use super::prepare::{unprepared, usage};
use crate::inputs::{InputFiles, InputStamp, Workdir};
use crate::project::Checked;
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// A folder with everything made.
pub(crate) struct ServedFolder {
    pub(crate) workdir: Workdir,
    pub(crate) cluster: Cluster,
    release: ReleasePayload,
    secrets: SecretBundle,
    origin: Origin,
    stamp: InputStamp,
}

/// The hosts of the inventory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServedHosts {
    pub(crate) files: Vec<HostFile>,
    pub(crate) roles: BTreeMap<String, Role>,
}

/// Where the input files are. A host may be added while machines are served.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    dir: PathBuf,
    release_dir: Option<PathBuf>,
}

impl ServedHosts {
    /// Their addresses, by name.
    pub(crate) fn addresses(&self) -> Addresses {
        self.files.iter().map(|host| (host.name.clone(), host.addresses.clone())).collect()
    }
}

impl Origin {
    pub(crate) fn stamp(&self) -> InputStamp {
        InputStamp::of(&self.dir)
    }

    /// The hosts as they are now. What there is to warn of was said at the start.
    pub(crate) fn hosts(&self) -> Result<ServedHosts, Report> {
        Ok(ServedFolder::open(&self.dir, self.release_dir.as_deref(), &Output::silent())?.hosts())
    }
}

impl ServedFolder {
    /// Reads the input files, the release and the secrets. `release_dir` is where the release is, if not what the
    /// inventory names.
    pub(crate) fn open(dir: &Path, release_dir: Option<&Path>, out: &Output) -> Result<Self, Report> {
        Self::of(dir, &InputFiles::open(&Workdir::open(dir)?)?, release_dir, out)
    }

    /// The same, of input files that were read before.
    pub(crate) fn of(
        dir: &Path,
        files: &InputFiles,
        release_dir: Option<&Path>,
        out: &Output,
    ) -> Result<Self, Report> {
        let origin = Origin { dir: dir.to_owned(), release_dir: release_dir.map(Path::to_owned) };
        let workdir = Workdir::open(dir)?;
        let checked = Checked::of(&workdir, files, Reach::local(release_dir), out)?;
        let secrets = workdir.secrets()?;
        let identity = secrets.identity().map_err(|error| unprepared(&error.to_string()))?;
        let cluster = Cluster { config: checked.config, inventory: checked.inventory, identity };
        let release = checked.release.payload;
        Ok(Self { workdir, cluster, release, secrets, origin, stamp: files.stamp() })
    }

    /// What is needed to read the hosts again when they change.
    pub(crate) fn origin(&self) -> (Origin, InputStamp) {
        (self.origin.clone(), self.stamp)
    }

    pub(crate) fn url(&self) -> Option<&ServerUrl> {
        self.cluster.inventory.ignition_server.url.as_ref()
    }

    /// What tokens are made with, once it is sure that hosts can come with them.
    pub(crate) fn token_key(&self, is_plain_http: bool) -> Result<TokenKey, Report> {
        let Some(url) = self.url() else {
            return Err(unprepared("ignitionServer.url is not set in inventory.yaml")
                .fix("set ignitionServer: {url: https://ADDRESS:22624}, run `hardway create ignition-configs`, then the same \
                 command again"));
        };
        if url.is_https == is_plain_http {
            let (says, flag) =
                if url.is_https { ("https", "omit --plain-http") } else { ("http", "add --plain-http") };
            return Err(usage(&format!("the pointers of the hosts say {url}, which is {says}")).fix(
                format!("{flag}, or change ignitionServer.url and run `hardway create ignition-configs`"),
            ));
        }
        let key = self.secrets.get(TOKEN_KEY).map_err(|error| unprepared(&error.to_string()))?;
        Ok(TokenKey::new(key))
    }

    pub(crate) fn hosts(&self) -> ServedHosts {
        let hosts = &self.cluster.inventory.hosts;
        let file = |host: &Host| HostFile {
            name: host.name.clone(),
            addresses: host.ip.clone(),
            path: self.workdir.path(&first_boot_config(&self.cluster, host)),
        };
        ServedHosts {
            files: hosts.iter().map(file).collect(),
            roles: hosts.iter().map(|host| (host.name.clone(), host.role)).collect(),
        }
    }

    pub(crate) fn pools(&self, warn: &dyn Fn(&str)) -> Result<PoolFace, Report> {
        let tree = self.workdir.tree()?;
        let inputs =
            Inputs { cluster: &self.cluster, release: &self.release, secrets: &self.secrets, tree: &tree };
        let failed = |error: &dyn std::error::Error| Report::from_error(Code::AssetFailed, error);
        let contract = inputs.version_contract().map_err(|error| failed(&error))?;
        let newest_minor = if contract.serves_ignition_3_5() { 5 } else { 4 };
        let mut pools = BTreeMap::new();
        for role in [Role::Master, Role::Worker] {
            match pool_config(&inputs, role).map_err(|error| failed(&error))? {
                Some(config) => {
                    pools.insert(role.name().to_owned(), Pool::new(&config, newest_minor));
                }
                None => warn(&format!(
                    "the release has no rendered MachineConfig for pool {role}: machines that request it are told to retry"
                )),
            }
        }
        Ok(PoolFace::new(pools))
    }
}
