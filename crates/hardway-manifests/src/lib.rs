//! Kubernetes objects judged as a kube-apiserver would at their creation, before there is one.
//!
//! ```text
//! Findings    all files of a cluster, judged together                            folder.rs, manifest_object.rs, finding.rs
//!   between objects                                                             references.rs, namespaces.rs, singletons.rs
//!   MachineConfigs, and the Ignition configs in them                            machine_config.rs, ignition.rs
//!   texts within objects                                                        embedded.rs
//!   for pipelines                                                               pipeline_row.rs
//! Kinds       all kinds of a cluster: Kubernetes' own, and those of CRDs        kinds.rs
//!   schema    what a value may be                                               schema.rs, custom_kind.rs, built_in.rs
//!   values    a value held against it                                           values.rs, formats.rs, pattern.rs
//!   pruning   what would be dropped, and filled in                              pruning.rs
//!   beyond    what the server's own code asks of its own kinds                  built_in_rules.rs, workloads.rs, metadata.rs
//!   rules     CEL                                                               rules.rs, typed_value.rs, cel/
//! Mistake     one thing wrong, in Kubernetes' words                             mistake.rs, field_path.rs
//! ```
//!
//! Pure: no clock, no network, no terminal and no disk. Differences from the real server are listed in
//! `docs/decisions/0017-manifests-are-judged-beforehand.md`; `tests/differential` holds both against each other.

mod built_in;
mod built_in_rules;
mod cel;
mod custom_kind;
mod embedded;
mod field_path;
mod finding;
mod folder;
mod formats;
mod ignition;
mod kinds;
mod list_types;
mod machine_config;
mod manifest_object;
mod metadata;
mod mistake;
mod namespaces;
mod pattern;
mod pipeline_row;
mod pruning;
mod references;
mod request_uri;
mod rules;
mod schema;
mod singletons;
mod typed_value;
mod values;
mod workloads;

pub use field_path::{FieldPath, PathStep};
pub use finding::{Finding, Severity};
pub use folder::{Findings, ManifestFile, Unchecked};
pub use kinds::{Judgement, Kinds, Scope, Verdict};
pub use mistake::Mistake;
pub use pipeline_row::{PipelineRow, junit, rule, sarif};
