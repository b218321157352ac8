//! A client of the cluster.

use std::path::Path;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::ApproverError;

/// With a kubeconfig; without one, as a pod of the cluster.
///
/// # Errors
/// When it cannot be read or says nothing usable. The API server is not asked.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, ApproverError> {
    let shown = kubeconfig.map_or_else(|| "of this pod".to_owned(), |path| path.display().to_string());
    let unusable = |source: Box<dyn std::error::Error + Send + Sync>| ApproverError::Kubeconfig {
        path: shown.clone(),
        source,
    };
    let mut config = match kubeconfig {
        Some(path) => {
            let read = Kubeconfig::read_from(path).map_err(|error| unusable(Box::new(error)))?;
            let options = KubeConfigOptions::default();
            Config::from_custom_kubeconfig(read, &options).await.map_err(|error| unusable(Box::new(error)))?
        }
        None => Config::incluster().map_err(|error| unusable(Box::new(error)))?,
    };
    config.connect_timeout = Some(Duration::from_secs(5));
    Client::try_from(config).map_err(|error| unusable(Box::new(error)))
}
