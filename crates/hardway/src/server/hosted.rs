//! The management cluster of hosted workers.

use std::sync::Arc;

use hardway_cluster::kubeconfig::{self, Source};
use hardway_machines::ignition_server::hosted_tokens::HostedTokens;
use hardway_machines::ignition_server::token_watch;
use hardway_machines::ignition_server::upstream::{self, Upstream};
use tokio::sync::mpsc;

use super::options::ServeOptions;
use super::service::failed;
use crate::report::Report;

/// A client of it, and the tokens that it knows.
pub(super) struct Hosted {
    client: kube::Client,
    namespace: String,
    pub(super) tokens: Arc<HostedTokens>,
    upstream: Option<Upstream>,
}

impl Hosted {
    /// As the flags or the surroundings say.
    pub(super) async fn connect(options: &ServeOptions) -> Result<Self, Report> {
        let source = options.kubeconfig.as_deref().map_or(Source::Environment, Source::File);
        let client = kubeconfig::connect(source).await.map_err(|error| {
            failed(&error).fix(
                "pass --kubeconfig FILE of the management cluster, or run as a pod with a service account",
            )
        })?;
        let namespace = options.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
        let upstream = match (&options.upstream, &options.upstream_ca) {
            (Some(address), Some(file)) => {
                let authority = fs_err::read_to_string(file).map_err(|error| failed(&error))?;
                Some(Upstream::new(address, &authority).map_err(|error| failed(&error))?)
            }
            _ => None,
        };
        Ok(Self { client, namespace, tokens: Arc::default(), upstream })
    }

    /// Watches and marks as long as the program runs, and tells what is wrong meanwhile.
    pub(super) fn spawn(self, troubles: mpsc::Sender<String>) -> mpsc::Sender<String> {
        let (sender, reached) = mpsc::channel(256);
        // Whoever tells is behind: what is wrong shows again.
        let trouble = move |what: &str| drop(troubles.try_send(what.to_owned()));
        let marking = trouble.clone();
        let Self { client, namespace, tokens, upstream } = self;
        let (watching, watched) = (client.clone(), namespace.clone());
        tokio::spawn(async move {
            match upstream {
                Some(behind) => upstream::watch(watching, &watched, tokens, behind, trouble).await,
                None => token_watch::watch(watching, &watched, tokens, trouble).await,
            }
        });
        tokio::spawn(async move { token_watch::mark(client, &namespace, reached, marking).await });
        sender
    }
}
