//! Evidence for a diagnosis: from a cluster, a bundle, files that a person names.

mod evidence;
mod local_facts;

pub(crate) use evidence::{given, of_bundle, of_cluster};

use std::fmt::Write as _;

use hardway_cluster::diagnosis::{Diagnosis, first_broken};

use super::Live;
use crate::inputs::Workdir;
use crate::terminal::Output;

/// What is broken first in a cluster, as text; nothing when nothing is, or nothing can be known.
pub(crate) async fn first(workdir: &Workdir, live: &Live, out: &Output) -> Option<String> {
    let evidence = of_cluster(workdir, live, out).await.ok()?;
    first_broken(&evidence).map(|found| text(&found))
}

/// As a person reads it.
pub(crate) fn text(found: &Diagnosis) -> String {
    let link = found.link.map(|link| format!(" ({link})")).unwrap_or_default();
    let mut text = format!("{}{link} {}\n", found.code, found.symptom);
    for line in &found.evidence {
        let _ = writeln!(text, "  seen   {line}");
    }
    let _ = writeln!(
        text,
        "  cause  {}\n  fix    {}\n  more   hardway explain {}",
        found.cause, found.fix, found.code
    );
    text
}
