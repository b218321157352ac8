//! The node render, from a working directory to rendered configs, in real containers of the stand-in operator.
//!
//! Needs podman and Go. Without them the tests that start containers pass over what they cannot do, except in CI.

mod dry_run;
mod handed_in;
mod mirror;
mod mistakes;
mod passes;
mod real_operator;
mod refusals;
mod scenario;
