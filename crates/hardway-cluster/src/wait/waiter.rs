//! A wait that is going on: the events that come in, what is said, and when to give up.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube::{Client, Config};

use super::error::{GiveUp, WaitError};
use super::line::{Line, complaints};
use crate::api_error::{Unanswered, sentence};
use crate::bootstrap_progress::{BootstrapHost, BootstrapReport, HostWatch};
use crate::clock::{SteadyClock, shown};
use crate::declared::Declared;
use crate::etcd::{EtcdAccess, EtcdWatch, MemberStatus};
use crate::operators::{Prerequisite, STABLE_FOR, Stall, WatchedCluster};
use crate::silence::Silence;
use crate::watch::{ClusterEvent, Watch, WatchPatience, WatchedKind};

/// How often to check whether there is something to say.
const OFTEN: Duration = Duration::from_millis(500);

/// How to wait.
#[derive(Clone, Debug)]
pub struct WaitOptions {
    /// For the whole wait; none: as long as there is progress.
    pub timeout: Option<SignedDuration>,
    /// The wait is given up when nothing new has happened for this long.
    pub stall_after: SignedDuration,
    /// An operator is stable when it has not been Progressing for this long.
    pub stable_for: SignedDuration,
    /// How the cluster is followed.
    pub patience: WatchPatience,
    /// Between looks at what cannot be watched.
    pub poll: Duration,
    /// A sign of life is given this often.
    pub heartbeat: Duration,
    /// How etcd is asked for its members, where it can be.
    pub etcd: Option<EtcdAccess>,
    /// How the bootstrap host is asked for its progress, where it can be.
    pub host: Option<BootstrapHost>,
}

impl WaitOptions {
    /// No limit but a stall of half an hour. A revision of the API server takes ten minutes per master, and a server that
    /// boots from its firmware up as long.
    pub fn new() -> Self {
        Self {
            timeout: None,
            stall_after: SignedDuration::from_mins(30),
            stable_for: STABLE_FOR,
            patience: WatchPatience::default(),
            poll: Duration::from_secs(2),
            heartbeat: Duration::from_secs(60),
            etcd: None,
            host: None,
        }
    }
}

impl Default for WaitOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A wait.
pub struct Wait<'s> {
    pub(super) config: Config,
    pub(super) options: WaitOptions,
    pub(super) clock: SteadyClock,
    pub(super) index: WatchedCluster,
    host: Option<HostWatch>,
    /// What the bootstrap host told last.
    report: Option<BootstrapReport>,
    said_of_host: String,
    say: &'s mut dyn FnMut(Line),
    last_sign: Timestamp,
    silence: Silence,
    witness: Option<Witness<'s>>,
}

/// What a wait sees on the way, for whoever writes it down.
#[derive(Debug)]
pub enum Sighting<'w> {
    /// Everything that was seen so far, after something new.
    Cluster(&'w WatchedCluster),
    /// Who is in etcd.
    Members(&'w [MemberStatus]),
}

/// Told of everything that a wait sees.
pub type Tell<'s> = Box<dyn FnMut(Sighting<'_>) + 's>;

/// Somebody who is told, and what only they want to know.
struct Witness<'s> {
    tell: Tell<'s>,
    etcd: Option<EtcdWatch>,
}

impl<'s> Wait<'s> {
    /// Begins now.
    pub fn new(
        config: Config,
        declared: Declared,
        options: WaitOptions,
        clock: SteadyClock,
        say: &'s mut dyn FnMut(Line),
    ) -> Self {
        let now = clock.now();
        let index = WatchedCluster::new(declared, now).stable_for(options.stable_for);
        let (report, said_of_host) = (None, String::new());
        let silence = Silence::begin();
        Self {
            config,
            options,
            clock,
            index,
            host: None,
            report,
            said_of_host,
            say,
            last_sign: now,
            silence,
            witness: None,
        }
    }

    /// With somebody who is told what is seen on the way; etcd is asked for that too, where it can be.
    pub fn witnessed(mut self, tell: Tell<'s>) -> Self {
        self.witness = Some(Witness { tell, etcd: None });
        self
    }

    /// Everything that was seen.
    pub fn index(&self) -> &WatchedCluster {
        &self.index
    }

    /// How long it has taken so far.
    pub fn elapsed(&self) -> SignedDuration {
        SignedDuration::try_from(self.clock.elapsed()).unwrap_or(SignedDuration::MAX)
    }

    /// What the bootstrap host told last, if it was asked.
    pub fn bootstrap_host(&self) -> Option<&BootstrapReport> {
        self.report.as_ref()
    }

    /// What the operators have to complain about, for the end of a wait that failed.
    pub fn complaints(&self) -> Vec<Line> {
        self.index.state().operators.iter().flat_map(|(name, operator)| complaints(name, operator)).collect()
    }

    pub(super) fn say(&mut self, line: Line) {
        (self.say)(line);
    }

    /// `Waiting up to 45m0s (until 3:04PM UTC) for WHAT...`, or how long it may take without a limit.
    pub(super) fn announce(&mut self, what: &str) {
        self.announce_as(&format!("for {what}"), what);
    }

    /// The same where openshift-install has other words for it.
    pub(super) fn announce_as(&mut self, words: &str, what: &str) {
        let limit = match self.options.timeout {
            Some(timeout) => {
                let passed = SignedDuration::from_secs(self.elapsed().as_secs());
                let left = timeout.saturating_sub(passed);
                let until = self.clock.now().checked_add(left).unwrap_or(Timestamp::MAX);
                format!("up to {} (until {} UTC) ", shown(left), until.strftime("%-I:%M%p"))
            }
            None => String::new(),
        };
        self.say(Line::info(format!("Waiting {limit}{words}...")).awaiting(what));
        if self.options.timeout.is_none() {
            let patience = shown(self.options.stall_after);
            self.say(Line::debug(format!(
                "There is no time limit while there is progress; {patience} without progress is a stall"
            )));
        }
    }

    /// Takes events in until there is an answer, or it is time to give up. Looks at least once a poll.
    pub(super) async fn until<T>(
        &mut self,
        watch: &mut Watch,
        mut check: impl AsyncFnMut(&mut Self) -> Option<T>,
    ) -> Result<T, GiveUp> {
        loop {
            if let Some(answer) = check(self).await {
                return Ok(answer);
            }
            if let Some(give_up) = self.give_up() {
                return Err(give_up);
            }
            let event = watch.next(self.options.poll.min(OFTEN)).await;
            self.take(&event);
            let (is_heard, why) = (self.is_heard(), self.index.lost().map(|(_, why)| why.to_owned()));
            self.break_silence(is_heard, why.as_deref());
            self.hear_host();
            self.hear_etcd();
            self.sign_of_life();
        }
    }

    /// Only while somebody wants to know: the gates of the pivot ask for themselves.
    fn hear_etcd(&mut self) {
        let Some(witness) = &mut self.witness else { return };
        let Some(access) = &self.options.etcd else { return };
        let pause = self.options.poll * 5;
        let etcd = witness.etcd.get_or_insert_with(|| EtcdWatch::start(access.clone(), pause));
        if let Some(members) = etcd.news() {
            (witness.tell)(Sighting::Members(&members));
        }
    }

    /// The API server's version, asked until it tells.
    pub(super) async fn api(&mut self) -> Result<String, (String, GiveUp)> {
        // Said when it changes, and every 15th time (cmd/openshift-install/create.go `logDownsample`).
        const SILENCE: u32 = 15;
        let (mut last, mut silence) = (String::new(), 0);
        loop {
            let error = match self.ask_version_aloud(&last).await {
                Ok(version) => {
                    self.take(&ClusterEvent::Up(version.clone()));
                    return Ok(version);
                }
                Err(error) => error.to_string(),
            };
            silence = if error == last { silence + 1 } else { SILENCE };
            if silence >= SILENCE {
                self.say(Line::debug(format!("Still waiting for the Kubernetes API: {error}")));
                silence = 0;
            }
            last = error;
            if let Some(give_up) = self.give_up() {
                let mut what = format!("the API at {} does not answer: {last}", host(&self.config));
                if let Some(sentence) = self.report.as_ref().and_then(BootstrapReport::current) {
                    what += &format!("; bootstrap host: {sentence}");
                }
                let link = Prerequisite {
                    subject: "api".to_owned(),
                    what,
                    fix: Some(
                        "check DNS of api, the load balancer, and bootkube on the bootstrap host".to_owned(),
                    ),
                };
                return Err((last, give_up.with(link)));
            }
            self.hear_host();
            self.break_silence(false, Some(&last));
            self.sign_of_life();
            tokio::time::sleep(self.options.poll).await;
        }
    }

    /// Looks at the bootstrap host from now on, if it can be reached.
    pub(super) fn look_at_host(&mut self) {
        let pause = self.options.poll * 5;
        self.host = self.options.host.clone().map(|host| HostWatch::start(host, pause));
    }

    /// What it says is progress too; what it cannot say holds nothing up.
    fn hear_host(&mut self) {
        let Some(news) = self.host.as_mut().and_then(HostWatch::news) else { return };
        let line = match news {
            Ok(report) => {
                let now = self.clock.now();
                report
                    .facts()
                    .into_iter()
                    .for_each(|fact| self.index.note(format!("bootstrap host: {fact}"), now));
                let line = report.current().map(|sentence| Line::info(format!("Bootstrap host: {sentence}")));
                self.report = Some(report);
                line
            }
            Err(error) => Some(Line::debug(format!("Cannot reach the bootstrap host: {error}"))),
        };
        if let Some(line) = line.filter(|line| line.text != self.said_of_host) {
            self.said_of_host.clone_from(&line.text);
            self.say(line);
        }
    }

    /// Asks, and says now and again that nobody answers.
    async fn ask_version_aloud(&mut self, last: &str) -> Result<String, Unanswered> {
        let mut asked = std::pin::pin!(ask_version(self.config.clone(), self.options.patience.answer));
        let why = Some(last).filter(|last| !last.is_empty());
        loop {
            tokio::select! {
                answer = &mut asked => return answer,
                () = tokio::time::sleep(OFTEN) => self.break_silence(false, why),
            }
        }
    }

    fn is_heard(&self) -> bool {
        self.index.lost().is_none() && WatchedKind::ALL.iter().any(|kind| self.index.is_fresh(*kind))
    }

    fn break_silence(&mut self, is_heard: bool, why: Option<&str>) {
        if let Some(line) = self.silence.line(is_heard, why) {
            self.last_sign = self.clock.now();
            let at = host(&self.config);
            self.say(Line::info(format!("The API at {at}: {line}")));
        }
    }

    /// Whether the kubeconfig makes a client at all: a mistake in it does not go away by waiting.
    pub(super) fn check_client(&self) -> Result<(), WaitError> {
        Client::try_from(self.config.clone()).map(drop).map_err(|error| WaitError::Client(sentence(&error)))
    }

    pub(super) fn take(&mut self, event: &ClusterEvent) {
        let now = self.clock.now();
        let was_lost = self.index.lost().is_some();
        self.index.apply(event, now);
        if let Some(witness) = &mut self.witness {
            (witness.tell)(Sighting::Cluster(&self.index));
        }
        match (was_lost, self.index.lost().map(|(_, why)| why.to_owned())) {
            (false, Some(why)) => self.say(Line::warn(format!("The API does not answer: {why}"))),
            (true, None) => self.say(Line::info("The API answers again")),
            _ => {}
        }
    }

    fn give_up(&self) -> Option<GiveUp> {
        let now = self.clock.now();
        if let Some(limit) = self.options.timeout {
            let is_over = self.elapsed() >= limit;
            return is_over.then(|| GiveUp::TimedOut(limit, self.index.blocking().map(Box::new)));
        }
        self.index.stall(now, self.options.stall_after).map(|stall| GiveUp::Stalled(Box::new(stall)))
    }

    fn sign_of_life(&mut self) {
        let now = self.clock.now();
        let heartbeat = SignedDuration::try_from(self.options.heartbeat).unwrap_or(SignedDuration::MAX);
        if now.duration_since(self.last_sign) < heartbeat {
            return;
        }
        self.last_sign = now;
        let elapsed = shown(self.elapsed());
        let version = self.index.version();
        let mut said: Vec<String> = version.message.into_iter().collect();
        if let Some(link) = self.index.blocking().filter(|link| !said.contains(&link.what)) {
            said.push(link.what);
        }
        let said = if said.is_empty() { "nothing heard yet".to_owned() } else { said.join("; ") };
        self.say(Line::sign_of_life(format!("Still waiting after {elapsed}: {said}")));
    }
}

impl GiveUp {
    fn with(self, broken: Prerequisite) -> Self {
        match self {
            Self::Stalled(stall) => Self::Stalled(Box::new(Stall { broken: Some(broken), ..*stall })),
            Self::TimedOut(limit, _) => Self::TimedOut(limit, Some(Box::new(broken))),
        }
    }
}

async fn ask_version(config: Config, patience: Duration) -> Result<String, Unanswered> {
    let client = Client::try_from(config)?;
    Ok(tokio::time::timeout(patience, client.apiserver_version()).await??.git_version)
}

/// Where the kubeconfig points, as openshift-install prints it.
pub(super) fn host(config: &Config) -> String {
    config.cluster_url.to_string().trim_end_matches('/').to_owned()
}
