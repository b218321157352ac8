//! Ports, routes and addresses.
//!
//! ```text
//! Listener          who listens where                               listener.rs
//! Route             networks this host knows                        route.rs
//! ports()           those that hardway listens at are free          ports.rs
//! subnet()          the machine network is nobody else's            route.rs
//! addresses()       nobody has an address that a machine will get   addresses.rs
//! ```

mod addresses;
mod listener;
mod ports;
mod route;

pub(super) use addresses::addresses;
pub(super) use ports::ports;
pub(super) use route::subnet;
