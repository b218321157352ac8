//! Evidence for a diagnosis: from a cluster, a bundle, files that a person names.

mod evidence;
mod local_facts;
mod machine_facts;

pub(crate) use evidence::{given, of_bundle, of_cluster};

use hardway_cluster::diagnosis::{Diagnosis, first_broken};

use super::Live;
use crate::inputs::Workdir;
use crate::terminal::{Output, Row, paragraph};

/// What is broken first in a cluster, as text; nothing when nothing is, or nothing can be known.
pub(crate) async fn first(workdir: &Workdir, live: &Live, out: &Output) -> Option<String> {
    let evidence = of_cluster(workdir, live, out).await.ok()?;
    first_broken(&evidence).map(|found| text(&found))
}

/// As a person reads it.
pub(crate) fn text(found: &Diagnosis) -> String {
    let link = found.link.map(|link| format!(" ({link})")).unwrap_or_default();
    let row = Row {
        name: &format!("{}{link}", found.code),
        outcome: found.symptom,
        detail: found.evidence.iter().map(String::as_str).collect(),
        advice: Some(found.fix),
    };
    paragraph(&row, found.cause, &format!("hardway explain {}", found.code))
}
