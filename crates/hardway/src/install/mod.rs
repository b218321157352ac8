//! The install: phases in order, each looked at before it is worked on, with a journal that outlives every process.
//!
//! ```text
//! graph          which phase needs which, and what goes in and comes out               graph.rs
//! Work           what a phase can do: observe, run                                     work.rs, phases/
//! Engine         observes, writes down, runs                                           engine.rs
//! recorded()     phases as the journal names them, whose fold says how far each is     history.rs
//! Install        what all phases share: folder, cluster, provider, background          context.rs, provider.rs, node.rs
//! run            begins an install or goes on with it, and says how it ended           run.rs, summary.rs
//! inside         the lab's network, which programs have to be in                       inside.rs
//! Background     ignition server, media server and approver, while phases need them    background.rs
//! watching       what phases wait for in the cluster                                   watching.rs
//! Sights         what is seen of machines from outside while they are waited for       sights.rs
//! View           what a person sees: a block on a terminal, or lines; and the log      view.rs, progress.rs, live.rs, lines.rs, log.rs
//! ```

mod background;
mod context;
mod engine;
mod graph;
mod history;
mod inside;
mod lines;
mod live;
mod log;
mod node;
mod phases;
mod progress;
mod provider;
mod run;
mod sights;
mod summary;
mod view;
mod watching;
mod work;

pub(crate) use context::{Install, failed_action, history, journal_report};
pub(crate) use graph::row;
pub(crate) use history::recorded;
pub(crate) use inside::{enter, is_inside, outside, place};
pub(crate) use log::Log;
pub(crate) use phases::work_of;
pub(crate) use progress::short;
pub(crate) use provider::{answered, check, left_behind, provider_kind, provider_of, stage};
pub(crate) use run::{Options, open, run};
pub(crate) use summary::summary;
pub(crate) use work::{Effect, Observed};
