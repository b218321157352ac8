//! The way from a working folder to the cluster that was made from it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use hardway_assets::Cluster;
use hardway_assets::inventory::Role;
use hardway_assets::work_paths;
use hardway_assets::{pki, yaml};
use hardway_cluster::bootstrap_progress::{BootstrapHost, Gateway};
use hardway_cluster::clock::SteadyClock;
use hardway_cluster::declared::Declared;
use hardway_cluster::etcd::EtcdAccess;
use hardway_cluster::kubeconfig::{self, Source};
use hardway_cluster::remote::Remote;
use hardway_cluster::wait::{Line, Wait, WaitOptions};
use kube::{Client, Config};

use super::folder_cluster::{self, Intent};
use super::shell;
use crate::clock;
use crate::inputs::{InputFiles, Workdir};
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Where the way to a cluster begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// Instead of the folder's own.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Where the release is, if not what the inventory names.
    pub(crate) release_dir: Option<PathBuf>,
}

/// A cluster that can be asked.
pub(crate) struct Live {
    /// How the API is reached.
    pub(crate) config: Config,
    /// The kubeconfig that says so; none in a pod.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// What the input files say; none in a folder that has none, such as openshift-install's.
    pub(crate) cluster: Option<Cluster>,
    /// The release's image with `oc` and a shell.
    pub(crate) cli_image: Option<String>,
}

impl Live {
    /// Reads the kubeconfig, and the input files if there are any. Must run inside an async runtime.
    pub(crate) async fn open(
        workdir: &Workdir,
        access: &Access,
        intent: Intent,
        out: &Output,
    ) -> Result<Self, Report> {
        let way = WayIn::find(workdir, access.kubeconfig.as_deref(), intent, out).await?;
        match InputFiles::open_if_there(workdir)? {
            Some(files) => Self::of(workdir, access, way, &files, out),
            None => {
                out.warn("no install-config.yaml and inventory.yaml here, so the expected nodes are unknown");
                let WayIn { config, kubeconfig } = way;
                Ok(Self { config, kubeconfig, cluster: None, cli_image: None })
            }
        }
    }

    /// The same, of input files that were read before.
    pub(crate) async fn open_with(
        workdir: &Workdir,
        access: &Access,
        files: &InputFiles,
        out: &Output,
    ) -> Result<Self, Report> {
        let way = WayIn::find(workdir, access.kubeconfig.as_deref(), Intent::Change, out).await?;
        Self::of(workdir, access, way, files, out)
    }

    fn of(
        workdir: &Workdir,
        access: &Access,
        way: WayIn,
        files: &InputFiles,
        out: &Output,
    ) -> Result<Self, Report> {
        let checked = Checked::of(workdir, files, Reach::local(access.release_dir.as_deref()), out)?;
        let cli_image = checked.release.payload.images.get("cli").ok().map(str::to_owned);
        let cluster = Some(project::cluster_of(workdir, checked)?);
        let WayIn { config, kubeconfig } = way;
        Ok(Self { config, kubeconfig, cluster, cli_image })
    }

    /// What the user declared.
    pub(crate) fn declared(&self, workdir: &Workdir) -> Declared {
        let Some(cluster) = &self.cluster else { return Declared::default() };
        let overrides = fs::read_to_string(workdir.path(work_paths::CVO_OVERRIDES)).ok();
        let overrides = overrides.and_then(|text| {
            let object = yaml::read(&text).ok()?.to_json();
            serde_json::from_value(object["spec"]["overrides"].clone()).ok()
        });
        Declared { overrides: overrides.unwrap_or_default(), ..Declared::of(cluster) }
    }

    /// A wait for it: for who is declared, with every way there is of asking.
    pub(crate) fn wait<'s>(
        &self,
        workdir: &Workdir,
        mut options: WaitOptions,
        say: &'s mut dyn FnMut(Line),
    ) -> Wait<'s> {
        options.etcd = self.etcd(workdir);
        options.host = self.bootstrap_host(workdir);
        let clock = SteadyClock::start(clock::now());
        Wait::new(self.config.clone(), self.declared(workdir), options, clock, say)
    }

    /// How etcd on the masters is asked, if the folder has a client certificate for it.
    pub(crate) fn etcd(&self, workdir: &Workdir) -> Option<EtcdAccess> {
        let cluster = self.cluster.as_ref()?;
        let text = |name: &str| fs::read_to_string(workdir.path(&pki::path(name))).ok();
        let primary =
            |ips: &[IpAddr]| ips.iter().find(|ip| ip.is_ipv6() == cluster.is_ipv6_primary()).copied();
        Some(EtcdAccess {
            addresses: cluster
                .inventory
                .with_role(Role::Master)
                .filter_map(|host| primary(&host.ip))
                .collect(),
            port: 2379,
            trust: text("etcd-ca-bundle")?,
            certificate: text("etcd-client")?,
            key: workdir.secrets().ok()?.key("etcd-client").ok()?.to_pem(),
            patience: Duration::from_secs(5),
        })
    }

    /// A shell on the bootstrap host, with the key that was drawn for it.
    ///
    /// # Errors
    /// When there is no such key, or the host's own is not known.
    pub(crate) fn bootstrap_shell(&self, workdir: &Workdir) -> Result<Remote, Report> {
        let Some(cluster) = &self.cluster else {
            let what = "no input files here, so the bootstrap host is unknown";
            return Err(Report::new(Code::ResetFailed, what));
        };
        let login = shell::bootstrap_login(workdir);
        if !login.key.as_ref().is_some_and(|key| key.exists()) {
            let what = "no ssh key for the bootstrap host in secrets/";
            return Err(Report::new(Code::ResetFailed, what).exit(Exit::Error));
        }
        let name = cluster.node_name(cluster.bootstrap_host());
        let host = shell::known_host(workdir, &name, cluster.bootstrap_ip().to_string(), Code::ResetFailed)?;
        Ok(Remote::ssh(host, &login))
    }

    /// How the bootstrap host is asked: by ssh, or for its journal.
    pub(crate) fn bootstrap_host(&self, workdir: &Workdir) -> Option<BootstrapHost> {
        let cluster = self.cluster.as_ref()?;
        let ssh = self.bootstrap_shell(workdir).ok();
        let gateway = journal_gateway(workdir, cluster.bootstrap_ip());
        (ssh.is_some() || gateway.is_some()).then_some(BootstrapHost { ssh, gateway })
    }
}

/// The journal of the bootstrap host, with the certificate that was made for it.
pub(crate) fn journal_gateway(workdir: &Workdir, address: IpAddr) -> Option<Gateway> {
    let text = |name: &str| fs::read_to_string(workdir.path(&pki::path(name))).ok();
    let key = workdir.secrets().ok()?.key("journal-gatewayd").ok()?.to_pem();
    Some(Gateway::new(address, text("root-ca")?, text("journal-gatewayd")?, key))
}

/// How a cluster is reached, and the file that says so.
pub(crate) struct WayIn {
    pub(crate) config: Config,
    /// None in a pod, which has a service account instead.
    pub(crate) kubeconfig: Option<PathBuf>,
}

impl WayIn {
    /// By the flag, else by the folder's own; in a pod whose folder has none, by its service account. `$KUBECONFIG` is not asked,
    /// because it stays set from folder to folder, but it is said that it is not. A way to another cluster than the folder's is
    /// refused. Must run inside an async runtime.
    pub(crate) async fn find(
        workdir: &Workdir,
        flag: Option<&Path>,
        intent: Intent,
        out: &Output,
    ) -> Result<Self, Report> {
        let own = workdir.path(work_paths::KUBECONFIG);
        let is_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() && !own.is_file();
        let path = flag.map(Path::to_owned).or((!is_pod).then_some(own));
        if let Some(passed_over) = path.as_deref().and_then(of_environment) {
            let [used, passed_over] =
                [path.clone().unwrap_or_default(), passed_over].map(|path| path.display().to_string());
            out.warn(&format!(
                "ignoring $KUBECONFIG ({passed_over}): using {used}; --kubeconfig overrides it"
            ));
        }
        let config = read_kubeconfig(workdir, path.as_deref()).await?;
        folder_cluster::ensure(workdir, path.as_deref(), &config, intent).await?;
        Ok(Self { config, kubeconfig: path })
    }
}

/// The file that `$KUBECONFIG` names, if it says something else than this one. Of a list, the first that is there counts.
fn of_environment(used: &Path) -> Option<PathBuf> {
    let list = std::env::var_os("KUBECONFIG").filter(|list| !list.is_empty())?;
    let paths: Vec<PathBuf> = std::env::split_paths(&list).collect();
    let named = paths.iter().find(|path| path.is_file()).or(paths.first())?;
    let is_same = match (fs::read(named), fs::read(used)) {
        (Ok(named), Ok(used)) => named == used,
        _ => named == used,
    };
    (!is_same).then(|| named.clone())
}

async fn read_kubeconfig(workdir: &Workdir, path: Option<&Path>) -> Result<Config, Report> {
    let own = workdir.path(work_paths::KUBECONFIG);
    let source = match path {
        Some(path) if path == own => Source::Folder(path),
        path => path.into(),
    };
    kubeconfig::read(source).await.map_err(|error| {
        let is_the_folders = path.is_none_or(|path| path == own);
        let exit = if is_the_folders { Exit::Config } else { Exit::Usage };
        let report = match path.filter(|_| error.is_missing()) {
            Some(path) => {
                Report::new(Code::KubeconfigUnusable, format!("kubeconfig not found: {}", path.display()))
            }
            None => Report::from_error(Code::KubeconfigUnusable, &error),
        };
        let report = match path.filter(|_| !is_the_folders && error.is_missing()) {
            Some(_) => report.fix("check the path given with --kubeconfig"),
            None => report.fix(error.fix()),
        };
        report.exit(exit)
    })
}

/// How the cluster of a folder is reached. Must run inside an async runtime.
pub(crate) async fn folder_config(workdir: &Workdir) -> Result<Config, Report> {
    let own = workdir.path(work_paths::KUBECONFIG);
    let config = read_kubeconfig(workdir, Some(&own)).await.map_err(|report| report.fix(OWN_FIX))?;
    folder_cluster::ensure(workdir, Some(&own), &config, Intent::Change).await?;
    Ok(config)
}

/// A client of the cluster of a folder. Must run inside an async runtime.
pub(crate) async fn folder_client(workdir: &Workdir) -> Result<Client, Report> {
    client(folder_config(workdir).await?)
}

/// A client of a cluster that a way was found to. Must run inside an async runtime.
pub(crate) fn client(config: Config) -> Result<Client, Report> {
    Client::try_from(config).map_err(|error| Report::from_error(Code::KubeconfigUnusable, &error))
}

/// For whoever takes no other.
const OWN_FIX: &str = "name the folder that the cluster was installed from with --dir";
