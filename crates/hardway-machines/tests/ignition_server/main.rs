//! The ignition server met from outside: by the real Ignition, and byte by byte over sockets.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test stops at the first surprise"
)]

mod api_server;
mod certificates;
#[path = "../common/client.rs"]
mod client;
mod hypershift_contract;
mod ignition;
mod machine_config_server_table;
mod real_api_server;
mod real_ignition;
mod site;
