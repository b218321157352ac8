//! From a request to an answer: whose path it is, what that face decides, and what must happen before and after.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hardway_base::Tally;
use hardway_journal::{Face, Now};
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Request, StatusCode};
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::faces::{HostFace, HostedFace, PoolFace};
use super::limits::network;
use super::{
    Answer, ConfigDecision, ConfigEvent, ConfigRequest, Happened, Limits, Metrics, Recorder, Redemption,
    RequestPath, SourceBuckets, route,
};

/// Which faces the server has.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    /// `/ignition/<host>`
    pub host: Option<Arc<HostFace>>,
    /// `/config/<pool>`
    pub pool: Option<Arc<PoolFace>>,
    /// `/ignition`
    pub hosted: Option<HostedFace>,
}

/// Answers requests. Shared by all connections.
pub struct Router {
    faces: Faces,
    recorder: Recorder,
    /// Secrets whose workers have arrived, for whoever marks them.
    reached: Option<mpsc::Sender<String>>,
    events: mpsc::Sender<ConfigEvent>,
    clock: Now,
    refusals: SourceBuckets,
    told: Tally<Refusal>,
    pool_requests: SourceBuckets,
    /// Addresses of machines that are expected, besides the hosts of face host.
    known: BTreeSet<IpAddr>,
    /// What was counted.
    pub metrics: Metrics,
}

/// Whose refusals are counted together: by face, status, and host where it has shown its token.
type Refusal = (Option<Face>, u16, String);

/// Refusals of one kind that are all told.
const TOLD: u64 = 64;

impl Router {
    /// With everything that answering needs.
    pub fn new(
        faces: Faces,
        recorder: Recorder,
        events: mpsc::Sender<ConfigEvent>,
        clock: Now,
        limits: &Limits,
    ) -> Self {
        Self {
            faces,
            recorder,
            reached: None,
            events,
            clock,
            refusals: SourceBuckets::new(limits.refusals),
            told: Tally::new(TOLD),
            pool_requests: SourceBuckets::new(limits.pool_requests),
            known: BTreeSet::new(),
            metrics: Metrics::default(),
        }
    }

    /// Tells somebody about Secrets whose workers have arrived.
    pub fn telling(mut self, reached: mpsc::Sender<String>) -> Self {
        self.reached = Some(reached);
        self
    }

    /// Expects machines at these addresses.
    pub fn knowing(mut self, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        self.known.extend(addresses);
        self
    }

    /// Whether a machine that is expected has this address.
    pub fn knows(&self, source: IpAddr) -> bool {
        let is_hosts = |face: &HostFace| face.table().values().any(|host| host.addresses.contains(&source));
        self.known.contains(&source) || self.faces.host.as_deref().is_some_and(is_hosts)
    }

    /// Whether every face can answer: the token Secrets take a moment to read, and until then a good token looks unknown.
    fn is_ready(&self) -> bool {
        self.faces.hosted.as_ref().is_none_or(|hosted| hosted.tokens().is_complete())
    }

    /// The answer to a request from `source`.
    pub async fn answer<B>(&self, request: &Request<B>, source: IpAddr) -> Answer {
        let asked = ConfigRequest {
            method: request.method(),
            path: request.uri().path(),
            headers: request.headers(),
            source: source.to_canonical(),
        };
        let now = (self.clock)();
        let (face, who, decision) = match (route(asked.path), &self.faces) {
            (RequestPath::Health, faces) if faces.hosted.is_some() || asked.is_read() => {
                return self.counted(None, Answer::empty(StatusCode::OK));
            }
            (RequestPath::Ready, _) if asked.is_read() => return self.counted(None, self.readiness()),
            (RequestPath::Metrics, _) if asked.is_read() => return self.counted(None, self.page()),
            (RequestPath::Redirect(to), _) => return self.counted(None, Answer::moved(&to)),
            (RequestPath::Host(host), Faces { host: Some(face), .. }) => {
                (Some(Face::Host), host.to_owned(), face.decide(&asked, host, now))
            }
            (RequestPath::Pool(pool), Faces { pool: Some(face), .. }) => {
                let who: String = pool.chars().filter(char::is_ascii_graphic).take(60).collect();
                if !self.pool_requests.take(asked.source, Instant::now()) {
                    Metrics::count(&self.metrics.limited);
                    return self.counted(Some(Face::Pool), Answer::later("too many requests"));
                }
                (Some(Face::Pool), who, face.decide(&asked, pool))
            }
            (RequestPath::Hosted, Faces { hosted: Some(face), .. }) => {
                (Some(Face::Hosted), String::new(), face.decide(&asked, now))
            }
            _ => (None, String::new(), self.nobodys(&asked)),
        };
        match decision {
            ConfigDecision::Refuse { answer, reason } => self.refused(face, who, &asked, now, answer, reason),
            ConfigDecision::Serve { config, content_type, redemption } => {
                let recorded = match asked.is_head() {
                    true => Ok(false),
                    false => self.recorder.record(&redemption, now, self.knows(asked.source)).await,
                };
                let is_worth_a_line = match recorded {
                    Ok(is_worth_a_line) => is_worth_a_line,
                    Err(error) => {
                        Metrics::count(&self.metrics.unrecorded);
                        let answer = Answer::later("the journal cannot be written");
                        let reason =
                            format!("cannot write the journal, and no config is served unrecorded: {error}");
                        return self.refused(face, who, &asked, now, answer, reason);
                    }
                };
                let mut answer = match &redemption {
                    // The server it stands in for never compresses.
                    Redemption::Hosted { .. } => Answer::empty(StatusCode::OK)
                        .with(CONTENT_TYPE, content_type)
                        .body(config.identity().clone()),
                    _ => Answer::config(&config, content_type, &asked),
                };
                answer.is_config = true;
                self.served(&redemption, &asked, &answer);
                if is_worth_a_line {
                    let (digest, bytes) = (redemption.digest().to_owned(), answer.body.len());
                    let what = Happened::Served { digest, bytes };
                    self.tell(face, redemption.who().to_owned(), &asked, now, what);
                }
                answer
            }
        }
    }

    fn served(&self, redemption: &Redemption, asked: &ConfigRequest<'_>, answer: &Answer) {
        self.metrics.answered(Some(redemption.face()), answer.status.as_u16());
        if asked.is_head() {
            return;
        }
        self.metrics.bytes.fetch_add(answer.body.len() as u64, Ordering::Relaxed);
        if let (Redemption::Hosted { reached: Some(secret), .. }, Some(reached)) = (redemption, &self.reached)
        {
            // When many arrive at once one mark is enough, and there are more to come.
            let _ = reached.try_send(secret.clone());
        }
    }

    /// Too many refusals to one source are answered shortly and told to nobody; of those to many sources, fewer and fewer are.
    fn refused(
        &self,
        face: Option<Face>,
        who: String,
        asked: &ConfigRequest<'_>,
        now: Timestamp,
        answer: Answer,
        reason: String,
    ) -> Answer {
        if !self.refusals.take(network(asked.source), Instant::now()) {
            Metrics::count(&self.metrics.limited);
            return self.counted(face, Answer::later("too many refused requests"));
        }
        let status = answer.status.as_u16();
        // Anybody can name a host; whoever is told more than that has its token.
        let is_host = face == Some(Face::Host) && !matches!(status, 401 | 405);
        let whose = if is_host { who.clone() } else { String::new() };
        if let Some(more) = self.told.count((face, status, whose)) {
            let reason = match more {
                0 => reason,
                more => format!("{reason} (and {more} more that were refused with {status} before)"),
            };
            self.tell(face, who, asked, now, Happened::Refused { status, reason });
        }
        self.counted(face, answer)
    }

    fn tell(
        &self,
        face: Option<Face>,
        who: String,
        asked: &ConfigRequest<'_>,
        time: Timestamp,
        what: Happened,
    ) {
        let event = ConfigEvent { time, source: asked.source, face, who, agent: asked.user_agent(), what };
        if self.events.try_send(event).is_err() {
            Metrics::count(&self.metrics.events_lost);
        }
    }

    fn counted(&self, face: Option<Face>, answer: Answer) -> Answer {
        self.metrics.answered(face, answer.status.as_u16());
        answer
    }

    /// Go's words where HyperShift's server is stood in for, else the machine-config-server's silence.
    fn nobodys(&self, asked: &ConfigRequest<'_>) -> ConfigDecision {
        let answer = if self.faces.hosted.is_some() {
            Answer::text(StatusCode::NOT_FOUND, "404 page not found")
        } else if asked.is_read() {
            Answer::empty(StatusCode::NOT_FOUND)
        } else {
            Answer::empty(StatusCode::METHOD_NOT_ALLOWED).with(ALLOW, "GET, HEAD")
        };
        let why = match asked.is_read() {
            true => "unknown path",
            false => "unsupported method: only GET and HEAD are allowed",
        };
        ConfigDecision::refuse_as(answer, why)
    }

    fn readiness(&self) -> Answer {
        match self.is_ready() {
            true => Answer::empty(StatusCode::OK),
            false => Answer::later("the token Secrets are still being read"),
        }
    }

    fn page(&self) -> Answer {
        let secrets = self.faces.hosted.as_ref().map(|hosted| hosted.tokens().len());
        Answer::empty(StatusCode::OK)
            .with(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
            .body(self.metrics.text(self.is_ready(), secrets))
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router").field("faces", &self.faces).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hardway_assets::ignition::TokenKey;
    use hardway_base::Secret;
    use hardway_journal::Journal;
    use jiff::SignedDuration;
    use serde_json::json;

    use super::*;
    use crate::ignition_server::faces::Pool;

    /// Of refusals none is written down, of each pool's redemptions 256 and the logarithm of the others; told are of each kind 64 and
    /// the logarithm of the others.
    #[tokio::test]
    async fn ten_thousand_strangers_leave_few_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let recorder = Recorder::into_journal(Arc::new(Journal::open(&path).unwrap())).unwrap();
        let pool = Pool::new(&json!({"ignition": {"version": "3.4.0"}}), 4);
        let key = TokenKey::new(&Secret::new("k"));
        let hosts = HostFace::new(key, SignedDuration::from_hours(24), true, BTreeMap::new());
        let faces = Faces {
            host: Some(Arc::new(hosts)),
            pool: Some(Arc::new(PoolFace::new(BTreeMap::from([("worker".to_owned(), pool)])))),
            hosted: None,
        };
        let (events, mut told) = mpsc::channel(40_000);
        let clock: Now = Arc::new(|| Timestamp::UNIX_EPOCH);
        let router = Router::new(faces, recorder, events, clock, &Limits::default());
        let mut statuses = BTreeMap::new();
        for number in 0..10_000_u16 {
            let source = IpAddr::from([10, 9, number.to_be_bytes()[0], number.to_be_bytes()[1]]);
            let paths =
                ["/config/worker".to_owned(), format!("/ignition/host-{number}"), format!("/{number}")];
            for path in paths {
                let accept = "application/vnd.coreos.ignition+json;version=3.4.0";
                let request = Request::get(path).header("accept", accept).body(()).unwrap();
                let status = router.answer(&request, source).await.status.as_u16();
                *statuses.entry(status).or_insert(0) += 1;
            }
        }
        assert_eq!(statuses, BTreeMap::from([(200, 10_000), (401, 10_000), (404, 10_000)]));
        // 512, 1024, 2048, 4096, 8192.
        assert_eq!(hardway_journal::read(&path).unwrap().len(), 256 + 5);
        let (mut refused, mut served) = (0, 0);
        while let Ok(event) = told.try_recv() {
            match event.what {
                Happened::Refused { .. } => refused += 1,
                Happened::Served { .. } => served += 1,
            }
        }
        // And from 128 on.
        assert_eq!((refused, served), (2 * (64 + 7), 256 + 5));
    }

    /// A machine network of IPv6 is one network: somebody in it who asks without end does not use up what the machines may ask for.
    #[tokio::test]
    async fn pool_configs_are_bounded_by_address() {
        let pool = Pool::new(&json!({"ignition": {"version": "3.4.0"}}), 4);
        let pools = PoolFace::new(BTreeMap::from([("worker".to_owned(), pool)]));
        let faces = Faces { pool: Some(Arc::new(pools)), ..Faces::default() };
        let (events, _told) = mpsc::channel(100);
        let clock: Now = Arc::new(|| Timestamp::UNIX_EPOCH);
        let limits = Limits { pool_requests: (0.0, 2.0), ..Limits::default() };
        let router = Router::new(faces, Recorder::nowhere(), events, clock, &limits);
        let ask = async |source: &str| {
            let accept = "application/vnd.coreos.ignition+json;version=3.4.0";
            let request = Request::get("/config/worker").header("accept", accept).body(()).unwrap();
            router.answer(&request, source.parse().unwrap()).await.status.as_u16()
        };
        let stranger = [ask("fd00::bad").await, ask("fd00::bad").await, ask("fd00::bad").await];
        assert_eq!((stranger, ask("fd00::1").await), ([200, 200, 503], 200));
    }
}
