//! The ignition server met from outside: by the real Ignition, and byte by byte over sockets.

mod api_server;
mod certificates;
mod hypershift_contract;
mod machine_config_server_table;
mod real_api_server;
mod real_ignition;
mod site;
