//! An event as one line.

use hardway_journal::Face;
use hardway_machines::ignition_server::{ConfigEvent, Happened};
use serde_json::json;

use crate::cli::ServeFormat;

/// With its line end. A config may have gone to an address that the inventory does not have its host at.
pub(super) fn event(event: &ConfigEvent, is_elsewhere: bool, format: ServeFormat) -> String {
    match format {
        ServeFormat::Text => text(event, is_elsewhere),
        ServeFormat::Json => format!("{}\n", value(event, is_elsewhere)),
    }
}

fn text(event: &ConfigEvent, is_elsewhere: bool) -> String {
    let ConfigEvent { time, source, face, who, agent, what } = event;
    let subject = [face.map_or("", Face::word), who.as_str()]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let by = if agent.is_empty() { String::new() } else { format!(" by {agent}") };
    match what {
        Happened::Served { digest, bytes } => {
            let elsewhere = if is_elsewhere { ", which is not its address in the inventory" } else { "" };
            format!(
                "{time:.0} served {subject} generation {digest} ({bytes} bytes) to {source}{by}{elsewhere}\n"
            )
        }
        Happened::Refused { status, reason } => {
            // A path that is nobody's has no subject.
            let subject = if subject.is_empty() { subject } else { format!(" {subject} to") };
            format!("{time:.0} refused{subject} {source}{by}: {status}, {reason}\n")
        }
    }
}

fn value(event: &ConfigEvent, is_elsewhere: bool) -> serde_json::Value {
    let mut value = json!({
        "time": event.time.to_string(),
        "source": event.source.to_string(),
        "face": event.face.map_or("", Face::word),
        "who": event.who,
        "agent": event.agent,
    });
    match &event.what {
        Happened::Served { digest, bytes } => {
            value["event"] = json!("served");
            value["generation"] = json!(digest);
            value["bytes"] = json!(bytes);
            if is_elsewhere {
                value["elsewhere"] = json!(true);
            }
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
        let refused = ConfigEvent {
            time: "2026-11-15T06:00:00.25Z".parse().unwrap(),
            source: "10.0.0.5".parse().unwrap(),
            face: Some(Face::Host),
            who: "master-0".to_owned(),
            agent: "Ignition/2.24.0".to_owned(),
            what: Happened::Refused { status: 409, reason: "two generations".to_owned() },
        };
        let shown = event(&refused, false, ServeFormat::Text);
        assert_eq!(
            shown,
            "2026-11-15T06:00:00Z refused host master-0 to 10.0.0.5 by Ignition/2.24.0: 409, two generations\n"
        );
        let value: serde_json::Value =
            serde_json::from_str(&event(&refused, false, ServeFormat::Json)).unwrap();
        assert_eq!(
            (&value["event"], &value["status"], &value["who"]),
            (&json!("refused"), &json!(409), &json!("master-0"))
        );
    }
}
