//! An event as one line.

use hardway_journal::Face;
use hardway_machines::ignition_server::{Event, Happened};
use serde_json::json;

use crate::cli::ServeFormat;

/// With its line end.
pub(super) fn event(event: &Event, format: ServeFormat) -> String {
    match format {
        ServeFormat::Text => text(event),
        ServeFormat::Json => format!("{}\n", value(event)),
    }
}

fn text(event: &Event) -> String {
    let Event { time, source, face, who, agent, what } = event;
    let subject = [face.map_or("", Face::word), who.as_str()]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let subject = if subject.is_empty() { "nobody".to_owned() } else { subject };
    let by = if agent.is_empty() { String::new() } else { format!(" by {agent}") };
    match what {
        Happened::Served { generation, bytes } => {
            format!("{time:.0} served {subject} generation {generation} ({bytes} bytes) to {source}{by}\n")
        }
        Happened::Refused { status, reason } => {
            format!("{time:.0} refused {subject} to {source}{by}: {status}, {reason}\n")
        }
    }
}

fn value(event: &Event) -> serde_json::Value {
    let mut value = json!({
        "time": event.time.to_string(),
        "source": event.source.to_string(),
        "face": event.face.map_or("", Face::word),
        "who": event.who,
        "agent": event.agent,
    });
    match &event.what {
        Happened::Served { generation, bytes } => {
            value["event"] = json!("served");
            value["generation"] = json!(generation);
            value["bytes"] = json!(bytes);
        }
        Happened::Refused { status, reason } => {
            value["event"] = json!("refused");
            value["status"] = json!(status);
            value["reason"] = json!(reason);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let refused = Event {
            time: "2026-11-15T06:00:00.25Z".parse().unwrap(),
            source: "10.0.0.5".parse().unwrap(),
            face: Some(Face::Host),
            who: "master-0".to_owned(),
            agent: "Ignition/2.24.0".to_owned(),
            what: Happened::Refused { status: 409, reason: "two generations".to_owned() },
        };
        let shown = event(&refused, ServeFormat::Text);
        assert_eq!(
            shown,
            "2026-11-15T06:00:00Z refused host master-0 to 10.0.0.5 by Ignition/2.24.0: 409, two generations\n"
        );
        let value: serde_json::Value = serde_json::from_str(&event(&refused, ServeFormat::Json)).unwrap();
        assert_eq!(
            (&value["event"], &value["status"], &value["who"]),
            (&json!("refused"), &json!(409), &json!("master-0"))
        );
    }
}
