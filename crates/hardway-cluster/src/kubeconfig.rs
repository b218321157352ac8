//! From a kubeconfig to a client of the cluster it names. There is no other way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::api_error::sentence;

/// For a connection to be made. An address behind which nobody is must not look like a slow cluster.
const CONNECT: Duration = Duration::from_secs(5);

/// There is no way to the cluster.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// The file is missing, unreadable, or says nothing of the kind.
    #[error("{} cannot be used as a kubeconfig", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<kube::config::KubeconfigError>,
    },
    /// No file was named, and this is no pod.
    #[error("there is no kubeconfig, and this is no pod of a cluster")]
    Nowhere(#[source] Box<kube::config::InClusterError>),
    /// It can be read, but no client be made of it: a key that does not fit, a proxy of an unknown kind.
    #[error("{} makes no client", shown(path))]
    Client {
        /// Which; none for a pod.
        path: Option<PathBuf>,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
}

impl KubeconfigError {
    /// What a person can do.
    pub fn fix(&self) -> &'static str {
        "make it with `hardway create ignition-configs`, or name another with --kubeconfig"
    }

    /// Whether the file is not there at all.
    pub fn is_missing(&self) -> bool {
        let Self::File { source, .. } = self else { return false };
        matches!(&**source, kube::config::KubeconfigError::ReadConfig(error, _) if error.kind() == std::io::ErrorKind::NotFound)
    }
}

/// How the cluster of a kubeconfig is reached; without one, of the pod this is. The API server is not asked.
///
/// # Errors
/// When it cannot be read, says nothing usable, or makes no client: that does not get better by trying again.
pub async fn read(path: Option<&Path>) -> Result<Config, KubeconfigError> {
    let mut config = match path {
        Some(path) => {
            let bad = |source| KubeconfigError::File { path: path.to_owned(), source: Box::new(source) };
            let file = Kubeconfig::read_from(path).map_err(bad)?;
            Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.map_err(bad)?
        }
        None => Config::incluster().map_err(|source| KubeconfigError::Nowhere(Box::new(source)))?,
    };
    config.connect_timeout = Some(CONNECT);
    client(&config, path)?;
    Ok(config)
}

/// A client of that cluster.
///
/// # Errors
/// As with [`read`].
pub async fn connect(path: Option<&Path>) -> Result<Client, KubeconfigError> {
    client(&read(path).await?, path)
}

/// A client that asks once and tells what it was told: a 503 is an answer, and must not become a question without one.
pub(crate) fn asking_once(config: &Config) -> Result<Client, String> {
    let mut config = config.clone();
    config.default_retry = false;
    Client::try_from(config).map_err(|error| sentence(&error))
}

fn client(config: &Config, path: Option<&Path>) -> Result<Client, KubeconfigError> {
    Client::try_from(config.clone()).map_err(|source| KubeconfigError::Client {
        path: path.map(Path::to_owned),
        source: Box::new(source),
    })
}

fn shown(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(|| "the pod's service account".to_owned(), |path| path.display().to_string())
}
