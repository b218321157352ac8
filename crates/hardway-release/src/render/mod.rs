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
//! check()               what the commands would stop at, all of it, before   preconditions.rs, images.rs, pools.rs, objects.rs
//! Faults                … and how to mend it                                 fault.rs
//! render_inputs()       the folder both commands work on                     inputs.rs
//! RenderCommands        the two command lines                                commands.rs
//! Podman                how it is called here, and what it needs             podman.rs
//! run()                 runs them                                            run.rs
//! explain()             what a known last line of theirs means               known_failure.rs
//! Rendered              what came out                                        rendered.rs
//! pool_effects()        what a change does to that, told beforehand          pool_effect.rs
//! ```

mod commands;
mod fault;
mod images;
mod inputs;
mod known_failure;
mod objects;
mod podman;
mod pool_effect;
mod pools;
mod preconditions;
mod rendered;
mod run;

pub use commands::{BadWorkspace, CommandLine, RenderCommands};
pub use fault::{Faults, Problem, RenderFault};
pub use inputs::render_inputs;
pub use known_failure::{KnownFailure, explain};
pub use podman::Podman;
pub use pool_effect::{PoolEffect, Verdict, pool_effects};
pub use preconditions::check;
pub use rendered::{Rendered, RenderedDirError, read_rendered_dir};
pub use run::{RenderError, run, write_inputs};
