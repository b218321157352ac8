//! What tests of several crates share. Only ever a dev-dependency.
//!
//! ```text
//! tools()        the real programs, built by tools/kubernetes/build.sh          tools.rs
//! ControlPlane   etcd, kube-apiserver, kube-controller-manager on loopback      control_plane.rs
//! Identity       a client certificate and kubeconfig of that control plane      identity.rs
//! Hypershift     a stand-in for HyperShift's operators, and its kinds           hypershift.rs
//! Machine        a kubelet and a container runtime that join it                 machine.rs
//! inside()       a host of the test's own, with a libvirtd where wanted         namespace.rs
//! RedfishEmulator  sushy-tools' management controllers on loopback              redfish_emulator.rs
//! sshd()         a real ssh server on loopback                                  ssh_server.rs
//! skipped()      says that a test is left out, or fails where none may be         skipped.rs
//! Server         a program that ends with the test, however the test ends       server.rs
//! ```
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod control_plane;
mod flags;
mod hypershift;
mod identity;
mod machine;
mod namespace;
mod redfish_emulator;
mod server;
mod skipped;
mod ssh_server;
mod tools;

pub use control_plane::ControlPlane;
pub use hypershift::{Config as HypershiftConfig, Hypershift, install_hypershift};
pub use identity::Identity;
pub use machine::{Machine, SHELL_IMAGE, own_address};
pub use namespace::{inside, inside_with_libvirt, until};
pub use redfish_emulator::{REDFISH_MACHINE, REDFISH_PASSWORD, REDFISH_USER, RedfishEmulator, self_signed};
pub use server::Server;
pub use skipped::skipped;
pub use ssh_server::{free_port, sshd, user};
pub use tools::{run, succeed, tools};
