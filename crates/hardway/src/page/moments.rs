//! Each line of the journal as what it changes, and a sentence.
//!
//! ```text
//! {"seq": 7, "time": "…", "kind": "node-joined", "text": "master-0 has become a node",
//!  "set": {"hosts": {"master-0": {…}}}}
//! ```
//!
//! `set` has the rows that are otherwise from then on; null where there is none any more. Folding is putting them in their
//! places, so a browser cannot come to another result than [`Known`].

use std::collections::BTreeMap;

use hardway_assets::Cluster;
use hardway_journal::{Event, Impossible, Record};
use serde_json::{Map, Value, json};

use super::known::{Known, Section, Touched};
use super::sentence::{Sentence, sentence};

/// Makes moments of records, in their order.
pub(crate) struct Moments {
    known: Known,
    /// As they were last told, of sections that are compared as a whole.
    told: BTreeMap<Section, BTreeMap<String, Value>>,
}

impl Moments {
    /// Before the first record.
    pub(crate) fn new(cluster: Option<&Cluster>) -> Self {
        Self { known: Known::new(cluster), told: BTreeMap::new() }
    }

    /// Where everything begins: what the sections are before anything happened.
    pub(crate) fn beginning(&mut self) -> Value {
        let mut set = Map::new();
        for section in Section::ALL {
            let rows: BTreeMap<String, Value> = self.known.rows(section).into_iter().collect();
            set.insert(section.name().to_owned(), json!(rows));
            self.told.insert(section, rows);
        }
        json!(set)
    }

    /// The moment of one more record.
    pub(crate) fn next(&mut self, record: &Record) -> Result<Value, Impossible> {
        self.known.read(record)?;
        let event = Event::of(record);
        let mut set: BTreeMap<&'static str, Map<String, Value>> = BTreeMap::new();
        for (section, touched) in event.as_ref().map(|event| self.known.touched(event)).unwrap_or_default() {
            for (key, row) in self.changed(section, touched) {
                set.entry(section.name()).or_default().insert(key, row);
            }
        }
        let Sentence { about, text } =
            event.as_ref().map_or_else(|| Sentence::unknown(&record.kind), sentence);
        let time = record.time.to_string();
        let mut moment =
            json!({"seq": record.seq, "time": time, "kind": record.kind, "about": about, "text": text});
        if !set.is_empty() {
            moment["set"] = json!(set);
        }
        Ok(moment)
    }

    fn changed(&mut self, section: Section, touched: Touched) -> Vec<(String, Value)> {
        let told = self.told.entry(section).or_default();
        match touched {
            Touched::Row(key, None) => {
                told.remove(&key);
                vec![(key, Value::Null)]
            }
            Touched::Row(key, Some(row)) => {
                told.insert(key.clone(), row.clone());
                vec![(key, row)]
            }
            Touched::All => {
                let now: BTreeMap<String, Value> = self.known.rows(section).into_iter().collect();
                let gone = told.keys().filter(|key| !now.contains_key(*key));
                let mut changed: Vec<(String, Value)> = gone.map(|key| (key.clone(), Value::Null)).collect();
                let is_new = |(key, row): &(&String, &Value)| told.get(*key) != Some(*row);
                changed.extend(now.iter().filter(is_new).map(|(key, row)| (key.clone(), row.clone())));
                *told = now;
                changed
            }
        }
    }
}
