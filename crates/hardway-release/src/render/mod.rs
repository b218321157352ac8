//! Node configs as the machine-config-operator of the release renders them.
//!
//! Phase render-nodes. In: a working directory with its manifests, the release, the cluster. Out: one rendered
//! MachineConfig for each pool, kept in `release/rendered/`.
//!
//! Two commands of the release's own machine-config-operator image do the work: the operator makes the controller's
//! configuration and the pools, the controller merges everything into one config for each pool. They get exactly the
//! objects that the cluster will also get: the controller in the cluster renders again, and a node whose config has
//! another name there is degraded.
//!
//! ```text
//! check()               what the commands would stop at, all of it, before   preconditions.rs, images.rs, pools.rs
//! Faults                … and how to mend it                                 fault.rs
//! render_inputs()       the folder both commands work on                     inputs.rs, host_files.rs
//! RenderCommands        the two command lines                                commands.rs
//! run()                 runs them                                            run.rs, process.rs
//! run_options()         what podman needs on a host with low limits          host_limits.rs
//! explain()             what a known last line of theirs means               known_failure.rs
//! Rendered              what came out                                        rendered.rs
//! ```

mod commands;
mod fault;
mod host_files;
mod host_limits;
mod images;
mod inputs;
mod known_failure;
mod objects;
mod pools;
mod preconditions;
mod process;
mod redaction;
mod rendered;
mod run;
mod selector;

pub use commands::{BadWorkspace, CommandLine, Podman, RenderCommands};
pub use fault::{Fault, Faults, Problem};
pub use host_limits::run_options;
pub use inputs::render_inputs;
pub use known_failure::{KnownFailure, explain};
pub use preconditions::check;
pub use rendered::{Rendered, RenderedDirError, read_rendered_dir};
pub use run::{RenderError, run, write_inputs};
