//! What stands around the hosts: the load balancer and the names. Text only; providers put it in place.
//!
//! ```text
//! BalancedPort    which ports go to which hosts, and how a host is asked whether it is well   balanced_port.rs
//! haproxy()       that as a configuration of HAProxy                                          haproxy.rs
//! Names           which names have which addresses, and the other way round                   names.rs
//! dnsmasq()       those as a configuration of dnsmasq                                         dnsmasq.rs
//! bind_zones()    those as zone files of BIND                                                 bind_zones.rs
//! ```

mod balanced_port;
mod bind_zones;
mod dnsmasq;
mod haproxy;
mod names;

pub use balanced_port::{BOOTSTRAP_SERVER, BalancedPort, Health, Member, Stage};
pub use bind_zones::{Zone, bind_zones};
pub use dnsmasq::{Dnsmasq, dnsmasq};
pub use haproxy::{Haproxy, haproxy};
pub use names::{Name, Names};
