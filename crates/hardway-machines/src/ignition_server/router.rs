//! From a request to an answer: whose path it is, what that face decides, and what must happen before and after.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hardway_journal::Face;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Request, StatusCode};
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::faces::{HostFace, HostedFace, PoolFace};
use super::{
    Answer, Clock, ConfigRequest, Decision, Event, Happened, Limits, Metrics, Recorder, Redemption, Route,
    SourceBuckets, route,
};
use crate::tally::Tally;

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
    events: mpsc::Sender<Event>,
    clock: Clock,
    refusals: SourceBuckets,
    told: Tally<Refusal>,
    pool_requests: SourceBuckets,
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
        events: mpsc::Sender<Event>,
        clock: Clock,
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
            metrics: Metrics::default(),
        }
    }

    /// Tells somebody about Secrets whose workers have arrived.
    pub fn telling(mut self, reached: mpsc::Sender<String>) -> Self {
        self.reached = Some(reached);
        self
    }

    /// Whether requests can be answered, or why not.
    pub fn is_ready(&self) -> Result<(), &'static str> {
        match &self.faces.hosted {
            Some(hosted) if !hosted.tokens().is_complete() => Err("the token Secrets are not all read yet"),
            _ => Ok(()),
        }
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
            (Route::Health, faces) if faces.hosted.is_some() || asked.is_read() => {
                return self.counted(None, Answer::empty(StatusCode::OK));
            }
            (Route::Ready, _) if asked.is_read() => return self.counted(None, self.readiness()),
            (Route::Metrics, _) if asked.is_read() => return self.counted(None, self.page()),
            (Route::Redirect(to), _) => return self.counted(None, Answer::moved(&to)),
            (Route::Host(host), Faces { host: Some(face), .. }) => {
                (Some(Face::Host), host.to_owned(), face.decide(&asked, host, now))
            }
            (Route::Pool(pool), Faces { pool: Some(face), .. }) => {
                let who: String = pool.chars().filter(char::is_ascii_graphic).take(60).collect();
                if !self.pool_requests.take(asked.source, Instant::now()) {
                    Metrics::count(&self.metrics.limited);
                    return self.counted(Some(Face::Pool), Answer::later("too many requests"));
                }
                (Some(Face::Pool), who, face.decide(&asked, pool))
            }
            (Route::Hosted, Faces { hosted: Some(face), .. }) => {
                (Some(Face::Hosted), String::new(), face.decide(&asked, now))
            }
            _ => (None, String::new(), self.nobodys(&asked)),
        };
        match decision {
            Decision::Refuse { answer, reason } => self.refused(face, who, &asked, now, answer, reason),
            Decision::Serve { config, content_type, redemption } => {
                if !asked.is_head()
                    && let Err(error) = self.recorder.record(&redemption, now).await
                {
                    Metrics::count(&self.metrics.unrecorded);
                    let answer = Answer::later("the journal cannot be written");
                    let reason = format!(
                        "the journal cannot be written, and no config is given out unrecorded: {error}"
                    );
                    return self.refused(face, who, &asked, now, answer, reason);
                }
                let answer = match &redemption {
                    // The server it stands in for never compresses.
                    Redemption::Hosted { .. } => Answer::empty(StatusCode::OK)
                        .with(CONTENT_TYPE, content_type)
                        .body(config.identity().clone()),
                    _ => Answer::config(&config, content_type, &asked),
                };
                self.served(&redemption, &asked, now, &answer);
                answer
            }
        }
    }

    fn served(&self, redemption: &Redemption, asked: &ConfigRequest<'_>, now: Timestamp, answer: &Answer) {
        self.metrics.answered(Some(redemption.face()), answer.status.as_u16());
        if asked.is_head() {
            return;
        }
        let bytes = answer.body.len();
        self.metrics.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if let (Redemption::Hosted { reached: Some(secret), .. }, Some(reached)) = (redemption, &self.reached)
        {
            // When many arrive at once one mark is enough, and there are more to come.
            let _ = reached.try_send(secret.clone());
        }
        let what = Happened::Served { generation: redemption.generation().to_owned(), bytes };
        self.tell(Some(redemption.face()), redemption.who().to_owned(), asked, now, what);
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
        if !self.refusals.take(asked.source, Instant::now()) {
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
        let event = Event { time, source: asked.source, face, who, agent: asked.user_agent(), what };
        if self.events.try_send(event).is_err() {
            Metrics::count(&self.metrics.events_lost);
        }
    }

    fn counted(&self, face: Option<Face>, answer: Answer) -> Answer {
        self.metrics.answered(face, answer.status.as_u16());
        answer
    }

    /// Go's words where HyperShift's server is stood in for, else the machine-config-server's silence.
    fn nobodys(&self, asked: &ConfigRequest<'_>) -> Decision {
        let answer = if self.faces.hosted.is_some() {
            Answer::text(StatusCode::NOT_FOUND, "404 page not found")
        } else if asked.is_read() {
            Answer::empty(StatusCode::NOT_FOUND)
        } else {
            Answer::empty(StatusCode::METHOD_NOT_ALLOWED).with(ALLOW, "GET, HEAD")
        };
        let why = match asked.is_read() {
            true => "a path that nobody serves here",
            false => "a method that is not answered here: configs are only read",
        };
        Decision::refuse_as(answer, why)
    }

    fn readiness(&self) -> Answer {
        match self.is_ready() {
            Ok(()) => Answer::empty(StatusCode::OK),
            Err(reason) => Answer::later(reason),
        }
    }

    fn page(&self) -> Answer {
        let secrets = self.faces.hosted.as_ref().map(|hosted| hosted.tokens().len());
        Answer::empty(StatusCode::OK)
            .with(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
            .body(self.metrics.text(self.is_ready().is_ok(), secrets))
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
        let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
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
        let mut refused = 0;
        while let Ok(event) = told.try_recv() {
            refused += usize::from(matches!(event.what, Happened::Refused { .. }));
        }
        // And from 128 on.
        assert_eq!(refused, 2 * (64 + 7));
    }
}
