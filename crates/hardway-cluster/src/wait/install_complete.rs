//! `wait-for install-complete`

use kube::api::Api;
use kube::{Client, Config};

use super::error::WaitError;
use super::line::Line;
use super::waiter::{Wait, host};
use crate::api_error::{Unanswered, unless_absent};
use crate::clock::shown;
use crate::objects::{ConfigMap, Route, Truth};
use crate::watch::{Watch, WatchedKind};

/// What is worth knowing of a cluster that is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Where its console is.
    pub console_url: Option<String>,
    /// PEM of the CA that signs what its routers serve, such as the console.
    pub router_ca: Option<String>,
}

impl Wait<'_> {
    /// Until the cluster is initialized, every operator has come to rest, and every declared node is there.
    pub async fn install_complete(&mut self) -> Result<Installed, WaitError> {
        self.check_client()?;
        let mut watch = Watch::start(&self.config, self.options.patience);
        self.announce(&format!("the cluster at {} to initialize", host(&self.config)));
        self.initialized(&mut watch).await?;
        self.say(Line::debug("Cluster is initialized"));
        self.announce_as(
            "to ensure each cluster operator has finished progressing",
            "each cluster operator to finish progressing",
        );
        self.stable(&mut watch).await?;
        self.say(Line::info("All cluster operators have completed progressing"));
        self.nodes(&mut watch).await?;
        self.warn_of_degraded();
        let router_ca = self.router_ca().await;
        self.say(Line::info("Checking to see if there is a route at openshift-console/console..."));
        let console_url = self.console(&mut watch).await;
        let elapsed = shown(self.elapsed());
        self.say(Line::info(format!("Time elapsed: {elapsed}")));
        Ok(Installed { console_url, router_ca })
    }

    async fn initialized(&mut self, watch: &mut Watch) -> Result<(), WaitError> {
        let mut last = String::new();
        let initialized = self.until(watch, async |wait| {
            let missing = wait.index.uninitialized().join("; ");
            if missing != last && !missing.is_empty() {
                let still = format!("the cluster to initialize: {missing}");
                wait.say(Line::debug(format!("Still waiting for {still}")).awaiting(still));
            }
            last = missing;
            last.is_empty().then_some(())
        });
        let ended = initialized.await;
        ended.map_err(|why| WaitError::Initialize { last, why })
    }

    /// Stable as openshift-install means it, for all operators at once; an operator that begins again is waited for again.
    async fn stable(&mut self, watch: &mut Watch) -> Result<(), WaitError> {
        let (mut unstable, mut awaited) = (Vec::new(), String::new());
        let stable = self.until(watch, async |wait| {
            let now = wait.clock.now();
            let still = wait.index.unstable(now);
            if still != unstable {
                let names = still.join(", ");
                wait.say(Line::debug(format!("These cluster operators are not stable: [{names}]")));
            }
            unstable = still;
            let now_awaited = wait.index.restless(&unstable);
            if now_awaited != awaited && !unstable.is_empty() {
                wait.say(Line::debug(format!("Still waiting for {now_awaited}")).awaiting(&now_awaited));
            }
            awaited = now_awaited;
            let is_known =
                wait.index.is_fresh(WatchedKind::Operators) && !wait.index.state().operators.is_empty();
            (is_known && unstable.is_empty()).then_some(())
        });
        let ended = stable.await;
        ended.map_err(|why| WaitError::Stability { unstable, why })
    }

    async fn nodes(&mut self, watch: &mut Watch) -> Result<(), WaitError> {
        let mut missing = Vec::new();
        let complete = self.until(watch, async |wait| {
            let still = wait.index.missing_nodes();
            if still != missing {
                let named: Vec<&str> = still.iter().map(|link| link.what.as_str()).collect();
                let what = format!("declared nodes: {}", named.join("; "));
                wait.say(Line::info(format!("Waiting for {what}")).awaiting(what));
            }
            missing = still;
            (wait.index.is_fresh(WatchedKind::Nodes) && missing.is_empty()).then_some(())
        });
        let ended = complete.await;
        ended.map_err(|why| WaitError::Nodes { missing, why })
    }

    /// A cluster can be complete with a part that is not as it should be; openshift-install says nothing about it.
    fn warn_of_degraded(&mut self) {
        let operators = &self.index.state().operators;
        let degraded = operators.iter().filter(|(_, operator)| operator.truth("Degraded") == Truth::True);
        let lines: Vec<Line> = degraded
            .filter_map(|(name, operator)| Some((name, operator.condition("Degraded")?)))
            .map(|(name, condition)| Line::warn(format!("{name} is complete but {}", condition.sentence())))
            .collect();
        lines.into_iter().for_each(|line| self.say(line));
    }

    async fn router_ca(&mut self) -> Option<String> {
        match get::<ConfigMap>(&self.config, "openshift-config-managed", "default-ingress-cert").await {
            Ok(Some(map)) => map.get("ca-bundle.crt").map(str::to_owned),
            Ok(None) => None,
            Err(error) => {
                self.say(Line::debug(format!("Cannot read the routers' CA: {error}")));
                None
            }
        }
    }

    /// A cluster without a console has no such route; one whose router is late has it soon. Neither fails the install.
    async fn console(&mut self, watch: &mut Watch) -> Option<String> {
        let began = self.elapsed();
        let config = self.config.clone();
        let limit = jiff::SignedDuration::from_mins(2);
        let found = self.until(watch, async |wait| {
            match get::<Route>(&config, "openshift-console", "console").await {
                Ok(Some(route)) if route.url().is_some() => return Some(Ok(route.url())),
                Ok(None) => return Some(Err("could not get openshift-console URL".to_owned())),
                Ok(Some(_)) => {
                    wait.say(Line::debug("Still waiting for the console route: it is not admitted"))
                }
                Err(error) => wait.say(Line::debug(format!("Still waiting for the console route: {error}"))),
            }
            let is_late = wait.elapsed().saturating_sub(began) >= limit;
            is_late.then(|| Err("waiting for openshift-console URL: it took too long".to_owned()))
        });
        match found.await.unwrap_or_else(|why| Err(why.to_string())) {
            Ok(url) => url,
            Err(why) => {
                self.say(Line::warn(format!("Cluster does not have a console available: {why}")));
                None
            }
        }
    }
}

async fn get<K>(config: &Config, namespace: &str, name: &str) -> Result<Option<K>, Unanswered>
where
    K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    let client = Client::try_from(config.clone())?;
    let asked = tokio::time::timeout(std::time::Duration::from_secs(15), async {
        Api::<K>::namespaced(client, namespace).get_opt(name).await
    });
    Ok(unless_absent(asked.await?)?)
}
