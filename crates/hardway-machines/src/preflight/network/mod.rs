//! Ports, routes and addresses.
//!
//! ```text
//! own_addresses()   of this host                                    own_addresses.rs
//! Listener          who listens where                               listener.rs
//! Route             networks this host knows                        route.rs
//! ports()           those that hardway listens at are free          ports.rs
//! subnet()          the machine network is nobody else's            subnet.rs
//! addresses()       nobody has an address that a machine will get   addresses.rs
//! ```

mod addresses;
mod listener;
mod own_addresses;
mod ports;
mod route;
mod subnet;

pub(super) use addresses::addresses;
pub(super) use own_addresses::own_addresses;
pub(super) use ports::ports;
pub(super) use subnet::subnet;
