//! Ports, routes and addresses.
//!
//! ```text
//! own_addresses()   of this host                                    own_addresses.rs
//! Listener          who listens where                               listener.rs
//! Route             networks this host knows                        route.rs
//! ports()           those that hardway listens at are free          ports.rs
//! subnet()          the machine network is nobody else's            subnet.rs
//! addresses()       nobody has an address that a machine will get   addresses.rs
//! virtual_addresses()   HAProxy will have them                      virtual_addresses.rs
//! bmc()             management controllers answer                   bmc.rs
//! ```

mod addresses;
mod bmc;
mod listener;
mod own_addresses;
mod ports;
mod route;
mod subnet;
mod virtual_addresses;

pub(super) use addresses::addresses;
pub(super) use bmc::bmc;
pub(super) use own_addresses::own_addresses;
pub(super) use ports::ports;
pub(super) use subnet::subnet;
pub(super) use virtual_addresses::virtual_addresses;
