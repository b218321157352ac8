//! The stages of bootkube, from its record.

use jiff::Timestamp;
use serde::Serialize;

use super::record::ServiceRecord;
use super::report::State;

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// Its name in bootkube.sh, in markers and in records.
    pub name: String,
    /// Where it stands.
    pub state: State,
    /// Since when, by the host's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// How often it was begun.
    pub tries: u32,
    /// What went wrong last, even if it is being tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The known stages in order, and any other that the record names, in the order it does. A stage whose service ended
/// without ending it was cut off: it is neither running nor done.
pub fn stages(known: &[&str], entries: &[ServiceRecord]) -> Vec<Stage> {
    let new = |name: &str| Stage {
        name: name.to_owned(),
        state: State::Waiting,
        since: None,
        tries: 0,
        error: None,
    };
    let mut stages: Vec<Stage> = known.iter().map(|name| new(name)).collect();
    for entry in entries {
        match (entry.phase.as_str(), entry.stage.as_deref()) {
            ("stage start", Some(name)) => {
                let stage = named(&mut stages, name, new);
                stage.state = State::Running;
                stage.since = entry.timestamp;
                stage.tries += 1;
            }
            ("stage end", Some(name)) => {
                let stage = named(&mut stages, name, new);
                stage.state = if entry.is_failure() { State::Failed } else { State::Done };
                stage.since = entry.timestamp;
                stage.error = entry.error();
            }
            ("service start" | "service end", _) => {
                for stage in stages.iter_mut().filter(|stage| stage.state == State::Running) {
                    stage.state = State::Failed;
                    stage.since = entry.timestamp;
                    stage.error.get_or_insert_with(|| "the service ended during this stage".to_owned());
                }
            }
            _ => {}
        }
    }
    stages
}

fn named<'s>(stages: &'s mut Vec<Stage>, name: &str, new: impl Fn(&str) -> Stage) -> &'s mut Stage {
    let place = stages.iter().position(|stage| stage.name == name).unwrap_or_else(|| {
        stages.push(new(name));
        stages.len() - 1
    });
    &mut stages[place]
}
