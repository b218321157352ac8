//! The install: phases in order, each looked at before it is worked on, with a journal that outlives every process.
//!
//! ```text
//! Work           what a phase can do: observe, run, plan, reset                        work.rs
//! phases         the work of each, and which needs which                               phases/
//! Engine         observes, writes down, runs                                           engine.rs
//! Install        what all phases share: folder, cluster, provider, background          context.rs
//!                with one machine of a cluster that runs                               node.rs, replacement.rs
//!                switched off and on as a whole                                        power.rs
//! run            begins an install or goes on with it, and says how it ended           run.rs, summary.rs
//! Background     ignition server, media server and approver, while phases need them    background.rs
//! cluster_watch  what phases wait for in the cluster                                   cluster_watch.rs
//! Witness        what is seen of the cluster meanwhile, written down when it changes    witness.rs
//! PhaseStatus    how far each phase is, by the journal                                 phase_status.rs
//! Observer       what is seen of machines from outside while they are waited for       observer.rs
//! InstallView    what a person sees: a block on a terminal, or lines; and the log      view/
//! ```

mod background;
mod cluster_watch;
mod context;
mod engine;
mod node;
mod observer;
mod phase_status;
mod phases;
mod power;
mod replacement;
mod run;
mod summary;
mod view;
mod witness;
mod work;

pub(crate) use context::Install;
pub(crate) use node::node_host;
pub(crate) use phase_status::{PhaseProgress, PhaseStatus, phase_statuses, phase_statuses_by};
pub(crate) use phases::{check_needs, needs, work_of};
pub(crate) use run::{InstallOptions, open, reset, run};
pub(crate) use summary::summary;
pub(crate) use view::short;
pub(crate) use witness::{member_seen, operators_seen};
pub(crate) use work::Effect;
