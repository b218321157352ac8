//! From a kubeconfig to a client of the cluster it names: the only way in this workspace, so that all of them give up on a dead
//! address after the same time.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::inline_kubeconfig;

/// For a connection to be made. An address behind which nobody is must not look like a slow cluster.
const CONNECT: Duration = Duration::from_secs(5);

/// Where the kubeconfig is.
#[derive(Clone, Copy, Debug)]
pub enum Source<'s> {
    /// In a file that a person names: as kubectl reads it, programs and all.
    File(&'s Path),
    /// In the working folder, which may be somebody else's: like one in a Secret.
    Folder(&'s Path),
    /// In a Secret, which others can write too: it may bring certificates, keys and tokens with it, and nothing else.
    Secret {
        /// What it is called in messages.
        name: &'s str,
        /// The kubeconfig.
        text: &'s str,
    },
    /// Wherever kubectl would look: `KUBECONFIG`, `~/.kube/config`, else the pod's service account.
    Environment,
    /// There is none: the service account of the pod this is.
    Pod,
}

/// There is no way to the cluster.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// It is missing, unreadable, or says nothing of the kind.
    #[error("{name} cannot be used as a kubeconfig")]
    Unusable {
        /// Which.
        name: String,
        /// Why.
        #[source]
        source: Box<kube::config::KubeconfigError>,
    },
    /// It says more than a kubeconfig of somebody else's may say.
    #[error("the kubeconfig in Secret {name} is refused: {}", .flaws.join("; "))]
    Refused {
        /// Which.
        name: String,
        /// Every field that must not be there, and why; never a value.
        flaws: Vec<String>,
    },
    /// It is in a working folder, and says more than hardway writes there.
    #[error("{} is refused: {}", .path.display(), .flaws.join("; "))]
    FolderRefused {
        /// Which.
        path: PathBuf,
        /// Every field that must not be there, and why; never a value.
        flaws: Vec<String>,
    },
    /// No file was named, and this is no pod.
    #[error("no kubeconfig given, and not running in a pod")]
    NotInPod(#[source] Box<kube::config::InClusterError>),
    /// No file was named, there is none where kubectl looks, and this is no pod.
    #[error("KUBECONFIG is not set or names no file, ~/.kube/config does not exist, and this is not a pod")]
    Nowhere,
    /// It can be read, but no client be made of it: a key that does not fit, a proxy of an unknown kind.
    #[error("cannot make a client from {name}")]
    Client {
        /// Which.
        name: String,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
}

impl KubeconfigError {
    /// What a person can do.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::FolderRefused { .. } => {
                "a folder can come from somebody else, so its kubeconfig may not name programs or files; if you wrote it yourself, name it with --kubeconfig"
            }
            _ => "make it with `hardway create ignition-configs`, or name another with --kubeconfig",
        }
    }

    /// Whether the file is not there at all.
    pub fn is_missing(&self) -> bool {
        let Self::Unusable { source, .. } = self else { return false };
        matches!(&**source, kube::config::KubeconfigError::ReadConfig(error, _) if error.kind() == std::io::ErrorKind::NotFound)
    }
}

/// How the cluster of a kubeconfig is reached. The API server is not asked.
///
/// # Errors
/// When it cannot be read, says nothing usable, or makes no client: that does not get better by trying again.
pub async fn read<'s>(source: impl Into<Source<'s>>) -> Result<Config, KubeconfigError> {
    let source = source.into();
    let mut config = config(source).await?;
    config.connect_timeout = Some(CONNECT);
    client(&config, source)?;
    Ok(config)
}

/// A client of that cluster.
///
/// # Errors
/// As with [`read`].
pub async fn connect<'s>(source: impl Into<Source<'s>>) -> Result<Client, KubeconfigError> {
    let source = source.into();
    client(&read(source).await?, source)
}

/// A client that asks once and tells what it was told: kube's own retries would turn a 503, or the 429 of a disruption budget, into
/// minutes of silence.
///
/// # Errors
/// When no client can be made of it.
pub fn without_retries(config: &Config) -> kube::Result<Client> {
    let mut config = config.clone();
    config.default_retry = false;
    Client::try_from(config)
}

/// The kubeconfig in a Secret of that name: what it brings with it, and nothing else.
///
/// # Errors
/// With every field that must not be there.
pub fn from_secret(name: &str, text: &str) -> Result<Kubeconfig, KubeconfigError> {
    inline_kubeconfig::read(text).map_err(|flaws| KubeconfigError::Refused { name: name.to_owned(), flaws })
}

fn of_folder(path: &Path) -> Result<Kubeconfig, KubeconfigError> {
    let text = fs_err::read_to_string(path).map_err(|error| KubeconfigError::Unusable {
        name: path.display().to_string(),
        source: Box::new(kube::config::KubeconfigError::ReadConfig(error, path.to_owned())),
    })?;
    inline_kubeconfig::read(&text)
        .map_err(|flaws| KubeconfigError::FolderRefused { path: path.to_owned(), flaws })
}

async fn config(source: Source<'_>) -> Result<Config, KubeconfigError> {
    let unusable = |error| KubeconfigError::Unusable { name: source.to_string(), source: Box::new(error) };
    let file = match source {
        Source::File(path) => Kubeconfig::read_from(path).map_err(unusable)?,
        Source::Folder(path) => of_folder(path)?,
        Source::Secret { name, text } => from_secret(name, text)?,
        Source::Environment => return of_environment().await,
        Source::Pod => {
            return Config::incluster().map_err(|error| KubeconfigError::NotInPod(Box::new(error)));
        }
    };
    Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.map_err(unusable)
}

/// As kubectl looks for one. A file that is there and cannot be used is what is wrong, and not that this is no pod.
async fn of_environment() -> Result<Config, KubeconfigError> {
    let error = match Config::from_kubeconfig(&KubeConfigOptions::default()).await {
        Ok(config) => return Ok(config),
        Err(error) => error,
    };
    let error = KubeconfigError::Unusable { name: Source::Environment.to_string(), source: Box::new(error) };
    Config::incluster().map_err(|_| if error.is_missing() { KubeconfigError::Nowhere } else { error })
}

fn client(config: &Config, source: Source<'_>) -> Result<Client, KubeconfigError> {
    let failed = |error| KubeconfigError::Client { name: source.to_string(), source: Box::new(error) };
    Client::try_from(config.clone()).map_err(failed)
}

/// Without a file, the pod's service account.
impl<'s, P: AsRef<Path> + ?Sized> From<Option<&'s P>> for Source<'s> {
    fn from(path: Option<&'s P>) -> Self {
        path.map_or(Self::Pod, |path| Self::File(path.as_ref()))
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Folder(path) => path.display().fmt(f),
            Self::Secret { name, .. } => f.write_str(name),
            Self::Environment => f.write_str("the environment"),
            Self::Pod => f.write_str("the pod's service account"),
        }
    }
}
