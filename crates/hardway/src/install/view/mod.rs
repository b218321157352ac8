//! What a person sees of a running install.

mod lines;
mod logged_view;
mod progress;
mod screen;

pub(super) use lines::Lines;
pub(super) use logged_view::LoggedView;
pub(super) use progress::InstallProgress;
pub(crate) use progress::short;
pub(super) use screen::Screen;

use hardway_assets::Phase;

use crate::report::Report;

/// Told about everything that happens. Calls come from any thread.
pub(crate) trait InstallView: Send + Sync {
    /// A look whether there is anything to do.
    fn looks_at(&self, phase: Phase);
    /// There is nothing to do.
    fn already(&self, phase: Phase, evidence: &str);
    /// It is being done, because of what is missing.
    fn started(&self, phase: Phase, why: &str);
    /// It holds now.
    fn finished(&self, phase: Phase, evidence: &str);
    /// It could not be done. The report itself is printed at the end.
    fn gave_up(&self, phase: Phase, report: &Report);
    /// What is being waited for, as a sentence. The same sentence again is no news.
    fn waits_for(&self, sentence: &str);
    /// How far that is. Shown while it lasts, and written down nowhere.
    fn progress(&self, sentence: &str);
    /// Something happened.
    fn event(&self, sentence: &str);
    /// A host is in another state than before.
    fn host(&self, name: &str, state: &str);
    /// A moment has passed. To be called a few times a second.
    fn tick(&self) {}
    /// What is drawn goes away: somebody else draws from here on.
    fn clear(&self) {}
}
