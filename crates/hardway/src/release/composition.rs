//! Which components of the kept release are stand-ins, and which are real: what a lab shows of a stand-in, it does not show of the
//! real one.

use hardway_assets::release_payload::{REAL_MARK, STAND_INS_MARK};
use hardway_assets::work_paths;
use serde_json::Value;

use crate::inputs::Workdir;

/// What a lab's release is made of, as it says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Composition {
    /// By name; none where no release is kept, or a real one.
    pub(crate) stand_ins: Vec<String>,
    /// In the release's own words, since some are programs inside of stand-ins.
    pub(crate) real: String,
}

impl Composition {
    /// Of the release that the folder keeps.
    pub(crate) fn of(workdir: &Workdir) -> Self {
        let text = workdir.text(work_paths::RELEASE_METADATA).ok().flatten().unwrap_or_default();
        let metadata: Value = serde_json::from_str(&text).unwrap_or_default();
        let marked = |name: &str| metadata["metadata"][name].as_str().unwrap_or_default();
        let names = marked(STAND_INS_MARK).split(", ").filter(|name| !name.is_empty());
        Self { stand_ins: names.map(str::to_owned).collect(), real: marked(REAL_MARK).to_owned() }
    }

    /// What to say of it, if it has stand-ins.
    pub(crate) fn note(&self) -> Option<String> {
        let Self { stand_ins, real } = self;
        let real = if real.is_empty() { String::new() } else { format!("; real: {real}") };
        (!stand_ins.is_empty()).then(|| {
            format!(
                "{} components of this release are stand-ins, so results say nothing about the real ones: {}{real}",
                stand_ins.len(),
                stand_ins.join(", ")
            )
        })
    }
}
