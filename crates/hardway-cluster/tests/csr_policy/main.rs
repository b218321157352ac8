//! The policy, on data alone: good requests are approved, and nothing else is, whatever it looks like.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

#[path = "../support/mod.rs"]
mod support;

mod corpus;
mod good;
mod history;
mod openssl;
mod properties;
