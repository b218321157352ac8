//! `hardway serve` as machines, attackers and operators meet it: the real program, over TLS.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod attacks;
mod boot;
mod changes;
#[path = "../../../hardway-machines/tests/common/client.rs"]
mod client;
mod ending;
mod kills;
mod refusals;
mod screen;
mod site;
