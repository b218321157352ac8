//! Who tried what, when, and what came of it; and how long those took who were to come.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::attacker::Attacker;
use super::siege::Moment;

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: BTreeMap<(Attacker, Moment), Row>,
    /// How long a host took from its first request to both certificates: in quiet, and beside attackers.
    joins: Vec<(&'static str, Duration)>,
}

/// One attacker at one moment.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) attempts: usize,
    /// The requests that came as far as the policy.
    pub(crate) judged: Vec<String>,
    /// What they got.
    pub(crate) let_in: Vec<String>,
}

/// What the report is also written to, for whoever runs this as a drill.
const FILE: &str = "HARDWAY_ATTACKERS_REPORT";

impl Report {
    pub(crate) fn row(&mut self, attacker: Attacker, moment: Moment) -> &mut Row {
        self.rows.entry((attacker, moment)).or_default()
    }

    pub(crate) fn joined(&mut self, when: &'static str, took: Duration) {
        self.joins.push((when, took));
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.joins.extend(other.joins);
    }

    /// What the cluster says in the end: a request may be approved long after those of its moment were counted.
    pub(crate) fn settle(&mut self, requests: &[Value]) {
        let is_in = |request: &Value| {
            let conditions = request["status"]["conditions"].as_array();
            conditions.into_iter().flatten().any(|condition| condition["type"] == "Approved")
                || request["status"]["certificate"].is_string()
        };
        let names = requests.iter().filter(|request| is_in(request));
        let names: Vec<&str> = names.filter_map(|request| request["metadata"]["name"].as_str()).collect();
        for row in self.rows.values_mut() {
            let approved = row.judged.iter().filter(|name| names.contains(&name.as_str()));
            row.let_in.extend(approved.map(|name| format!("{name}: approved")));
        }
    }

    /// Writes it down before it is judged, so that it can be read whatever the judgement is.
    pub(crate) fn write(&self, seed: u64) {
        if let Some(path) = std::env::var_os(FILE) {
            fs_err::write(std::path::PathBuf::from(path), self.json(seed).to_string()).unwrap();
        }
    }

    /// Every attacker was there at every moment, some of them came as far as the policy, and none got anything.
    pub(crate) fn judge(&self) {
        for attacker in Attacker::ALL {
            for moment in Moment::ALL {
                let row = self.rows.get(&(attacker, moment));
                assert!(
                    row.is_some_and(|row| row.attempts > 0),
                    "{} was not there {}",
                    attacker.name(),
                    moment.name()
                );
            }
        }
        let judged: usize = self.rows.values().map(|row| row.judged.len()).sum();
        let attempts: usize = self.rows.values().map(|row| row.attempts).sum();
        assert!(judged > attempts / 5, "only {judged} of {attempts} came as far as the policy");
        let let_in: Vec<&String> = self.rows.values().flat_map(|row| &row.let_in).collect();
        assert!(let_in.is_empty(), "{} got in: {let_in:#?}", let_in.len());
    }

    fn json(&self, seed: u64) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|((attacker, moment), row)| {
                json!({
                    "attacker": attacker.name(), "moment": moment.name(),
                    "attempts": row.attempts, "judged": row.judged.len(), "letIn": row.let_in,
                })
            })
            .collect();
        let joins: Vec<Value> = self
            .joins
            .iter()
            .map(|(when, took)| json!({"when": when, "seconds": took.as_secs_f64()}))
            .collect();
        json!({"seed": seed, "rows": rows, "joins": joins})
    }
}
