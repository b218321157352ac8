//! One file a verb. Each takes its arguments and the printer, and gives an exit code or a report.

pub(crate) mod approve;
pub(crate) mod bmc;
pub(crate) mod check;
pub(crate) mod cluster;
pub(crate) mod completion;
pub(crate) mod create;
pub(crate) mod csr;
pub(crate) mod destroy;
pub(crate) mod diagnose;
pub(crate) mod diff;
pub(crate) mod dry_run;
pub(crate) mod explain;
pub(crate) mod gather;
pub(crate) mod graph;
pub(crate) mod init;
pub(crate) mod lab;
pub(crate) mod media;
pub(crate) mod phase;
pub(crate) mod plan;
pub(crate) mod release;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod verify;
pub(crate) mod wait_for;
