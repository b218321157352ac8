//! What stands around the hosts: the load balancer and the names. Text only; providers put it in place.
//!
//! ```text
//! BalancedPort    which ports go to which hosts, and how a host is asked whether it is well   balanced_port.rs
//! haproxy()       that as a configuration of HAProxy                                          haproxy.rs
//! Names           which names have which addresses, and the other way round                   names.rs
//! dnsmasq()       those as a configuration of dnsmasq                                         dnsmasq.rs
//! bind_zones()    those as zone files of BIND                                                 bind_zones.rs
//! Leases          which network card gets which address                                       leases.rs
//! dnsmasq_leases(), kea_dhcp4(), kea_dhcp6()   those as configurations                        dnsmasq.rs, kea.rs
//! BootOptions     what DHCP tells machines that boot from the network                         boot_options.rs
//! keepalived()    virtual addresses on one of several balancer hosts                          keepalived.rs
//! ```

mod balanced_port;
mod bind_zones;
mod boot_options;
mod dnsmasq;
mod haproxy;
mod kea;
mod keepalived;
mod leases;
mod names;

pub use balanced_port::{BOOTSTRAP_SERVER, BackendMember, BalancedPort, Health, InstallStage};
pub use bind_zones::{Zone, bind_conf, bind_zones};
pub use boot_options::BootOptions;
pub use dnsmasq::{Dnsmasq, dnsmasq, dnsmasq_leases, dnsmasq_without_names};
pub use haproxy::{Haproxy, haproxy};
pub use kea::{kea_dhcp4, kea_dhcp6};
pub use keepalived::{Keepalived, keepalived};
pub use leases::{Lease, LeaseSubnet, Leases};
pub use names::{Name, Names};
