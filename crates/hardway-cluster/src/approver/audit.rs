//! Writing down each decision: journal, log and Kubernetes event. What is about to be written into the cluster is waited for until it is on disk;
//! what was decided is written in the background, in order.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use hardway_assets::work_paths;
use hardway_journal::{CsrDecided, CsrIntended, Entry, Journal, JournalError};
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, PostParams};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::record::{CsrOutcome, FoundDecision};
use super::{ApproverError, REQUEST_LIMIT};
use crate::csr_policy::CsrVerdict;

/// Who reports, in events.
const CONTROLLER: &str = "hardway.dev/approver";
/// Events of things without a namespace are kept there (kubernetes `client-go/tools/record`).
const EVENT_NAMESPACE: &str = "default";
/// Events that are sent at the same time.
const SENDERS: usize = 4;

/// How long events that are still to be sent keep an approver that ends.
const EVENTS_LIMIT: Duration = Duration::from_secs(20);

/// Takes what is to be written down.
#[derive(Clone, Debug)]
pub(crate) struct Audit {
    lines: mpsc::UnboundedSender<Line>,
    events: mpsc::UnboundedSender<Event>,
    instance: String,
}

/// Writes it down, until the last [`Audit`] is dropped.
pub(crate) struct Auditors {
    /// Its result is why nothing more could be written.
    pub(crate) writer: JoinHandle<Result<(), ApproverError>>,
    senders: Vec<JoinHandle<()>>,
}

struct Line {
    entry: Entry,
    log: Option<String>,
    /// Told once it is on the disk.
    written: Option<oneshot::Sender<()>>,
}

impl Audit {
    /// Begins to write into a working folder and a cluster.
    pub(crate) fn begin(
        folder: &Path,
        client: &kube::Client,
        instance: &str,
    ) -> Result<(Self, Auditors), ApproverError> {
        fs::create_dir_all(folder).map_err(ApproverError::Log)?;
        let journal = Journal::open(&folder.join(hardway_journal::FILE_NAME))?;
        let log = open_log(&folder.join(work_paths::APPROVAL_LOG))?;
        let (lines, taken) = mpsc::unbounded_channel();
        let writer = tokio::task::spawn_blocking(move || write_lines(&journal, log, taken));
        let (events, taken) = mpsc::unbounded_channel();
        let taken = Arc::new(tokio::sync::Mutex::new(taken));
        let senders =
            (0..SENDERS).map(|_| tokio::spawn(send_events(client.clone(), Arc::clone(&taken)))).collect();
        Ok((Self { lines, events, instance: instance.to_owned() }, Auditors { writer, senders }))
    }

    /// Writes a decision down.
    pub(crate) fn decided(&self, outcome: &CsrOutcome) {
        let entry = Entry::of(outcome.time, &outcome.decided);
        let log = serde_json::to_string(outcome).ok();
        // The writer has ended only when writing failed, and that is noticed where its result is awaited.
        let _ = self.lines.send(Line { entry, log, written: None });
        let _ = self.events.send(self.event(outcome));
    }

    /// Writes down what is about to be decided, and waits until it is on the disk. Gives whether it is.
    pub(crate) async fn intended(&self, now: Timestamp, decided: CsrDecided) -> bool {
        let (sender, written) = oneshot::channel();
        let entry = Entry::of(now, &CsrIntended(decided));
        let _ = self.lines.send(Line { entry, log: None, written: Some(sender) });
        written.await.is_ok()
    }

    /// Writes down a decision that was found in a request.
    pub(crate) fn found(&self, found: &FoundDecision) {
        let entry = Entry::of(found.time, &found.decided);
        let _ = self.lines.send(Line { entry, log: serde_json::to_string(found).ok(), written: None });
    }

    /// Writes any other fact down.
    pub(crate) fn happened(&self, entry: Entry) {
        let _ = self.lines.send(Line { entry, log: None, written: None });
    }

    fn event(&self, outcome: &CsrOutcome) -> Event {
        let decided = &outcome.decided;
        let (action, reason, kind) = match decided.verdict {
            CsrVerdict::Approve => ("Approving", "CertificateApproved", "Normal"),
            CsrVerdict::Deny => ("Denying", "CertificateDenied", "Warning"),
            CsrVerdict::Hold | CsrVerdict::Leave => ("Holding", "CertificateHeld", "Warning"),
        };
        let mut note = format!("{}: {}", decided.reason, decided.evidence.join("; "));
        // The API server refuses longer ones (kubernetes pkg/apis/core/validation/events.go).
        note = note.chars().take(900).collect();
        Event {
            metadata: ObjectMeta {
                generate_name: Some("hardway-approver-".to_owned()),
                namespace: Some(EVENT_NAMESPACE.to_owned()),
                ..ObjectMeta::default()
            },
            event_time: Some(MicroTime(outcome.time)),
            reporting_controller: Some(CONTROLLER.to_owned()),
            reporting_instance: Some(self.instance.chars().take(128).collect()),
            action: Some(action.to_owned()),
            reason: Some(reason.to_owned()),
            type_: Some(kind.to_owned()),
            note: Some(note),
            regarding: Some(regarding(&decided.request, &decided.uid)),
            ..Event::default()
        }
    }
}

impl Auditors {
    /// Waits until everything is written. Events are a courtesy: an API server that is gone gets none.
    pub(crate) async fn finish(self) -> Result<(), ApproverError> {
        let written = self.writer.await.map_err(|error| ApproverError::Bug(error.to_string()))?;
        let sent = async {
            for sender in self.senders {
                let _ = sender.await;
            }
        };
        let _ = timeout(EVENTS_LIMIT, sent).await;
        written
    }
}

fn regarding(name: &str, uid: &str) -> ObjectReference {
    use kube::Resource as _;
    ObjectReference {
        api_version: Some(CertificateSigningRequest::api_version(&()).into_owned()),
        kind: Some(CertificateSigningRequest::kind(&()).into_owned()),
        name: Some(name.to_owned()),
        uid: Some(uid.to_owned()),
        ..ObjectReference::default()
    }
}

fn open_log(path: &PathBuf) -> Result<fs::File, ApproverError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(ApproverError::Log)?;
    }
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(ApproverError::Log)
}

/// Whatever has come in meanwhile is one append, and one wait for the disk.
fn write_lines(
    journal: &Journal,
    mut log: fs::File,
    mut taken: mpsc::UnboundedReceiver<Line>,
) -> Result<(), ApproverError> {
    while let Some(first) = taken.blocking_recv() {
        let mut lines = vec![first];
        while let Ok(line) = taken.try_recv() {
            lines.push(line);
        }
        let text: String =
            lines.iter().filter_map(|line| line.log.as_ref()).map(|log| format!("{log}\n")).collect();
        log.write_all(text.as_bytes()).map_err(ApproverError::Log)?;
        let (entries, waiting): (Vec<Entry>, Vec<_>) =
            lines.into_iter().map(|line| (line.entry, line.written)).unzip();
        journal.append(&entries)?;
        waiting.into_iter().flatten().for_each(|waiting| _ = waiting.send(()));
    }
    Ok(())
}

async fn send_events(client: kube::Client, taken: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Event>>>) {
    let events: Api<Event> = Api::namespaced(client, EVENT_NAMESPACE);
    loop {
        let Some(event) = taken.lock().await.recv().await else { return };
        // Lost when the API server is away: journal and log have it.
        let _ = timeout(REQUEST_LIMIT, events.create(&PostParams::default(), &event)).await;
    }
}

impl From<JournalError> for ApproverError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}
