//! What tests of several crates share. Only ever a dev-dependency, and it knows none of our crates.
//!
//! ```text
//! Work             a working folder, and the program run in it                  work.rs, inputs.rs
//! Ran, Running     a run that has ended, and one that goes on                   run.rs
//! Snapshot         everything of a folder at one moment                         snapshot.rs
//! until()          waiting                                                      wait.rs
//! free_port()      ports that nobody else takes                                 ports.rs
//! self_signed()    certificates and requests, made by OpenSSL                   certificate.rs
//! inside()         a host of the test's own, with a libvirtd where wanted       namespace.rs
//! inside_with_units()  one whose units a stand-in for systemctl starts          namespace.rs, systemctl.sh
//! Server           a program that ends with the test, however the test ends     server.rs
//! tools()          the real programs, built by tools/kubernetes/build.sh        tools.rs
//! ControlPlane     etcd, kube-apiserver, kube-controller-manager on loopback    control_plane.rs, flags.rs
//! EtcdMembers      etcd members that know each other                             etcd.rs
//! Identity         a client certificate and kubeconfig of that control plane    identity.rs
//! has_exactly_the_rights_it_used()  rights of service accounts, by audit log   rights.rs
//! install_hypershift()  a management cluster as HyperShift leaves it            hypershift.rs
//! Machine          a kubelet and a container runtime that join it               machine.rs
//! FirstBoot        the real Ignition, with a folder for a disk                  first_boot.rs
//! RedfishEmulator  sushy-tools' management controllers on loopback              redfish_emulator.rs
//! Browser          a real Chromium, driven over WebDriver                      browser.rs
//! sshd()           a real ssh server on loopback                                server.rs
//! skipped()        says that a test is left out, or fails where none may be     tools.rs
//! ```
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod browser;
mod certificate;
mod control_plane;
mod etcd;
mod first_boot;
mod flags;
mod hypershift;
mod identity;
mod inputs;
mod machine;
mod namespace;
mod ports;
mod redfish_emulator;
mod rights;
mod run;
mod server;
mod snapshot;
mod tools;
mod wait;
mod work;

pub use browser::{Browser, BrowserLog, ESCAPE, RETURN, TAB};
pub use certificate::{NEW_KEY, node_request, self_signed, self_signed_leaf};
pub use control_plane::ControlPlane;
pub use etcd::EtcdMembers;
pub use first_boot::{FirstBoot, Stage};
pub use hypershift::{hosted_control_plane_is_up, install_hypershift, own_kubeconfig};
pub use identity::Identity;
pub use inputs::{AUTH, INSTALL_CONFIG, INVENTORY, hosted_inventory, with_hardware};
pub use machine::{Machine, SHELL_IMAGE, own_address};
pub use namespace::{inside, inside_with_libvirt, inside_with_units, own_units_script};
pub use ports::{free_port, free_ports};
pub use redfish_emulator::{REDFISH_MACHINE, REDFISH_PASSWORD, REDFISH_USER, RedfishEmulator};
pub use run::{Ran, Running};
pub use server::{Server, sshd, user};
pub use snapshot::Snapshot;
pub use tools::{feed, needed, real_data, run, skipped, succeed, tools};
pub use wait::until;
#[cfg(feature = "tokio")]
pub use wait::{eventually, until_found};
pub use work::{NOW, Work};
