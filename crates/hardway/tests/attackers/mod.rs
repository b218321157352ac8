//! Nobody gets in who should not, and nobody who should is kept waiting: a real etcd, kube-apiserver and
//! kube-controller-manager with the authorities of a folder that the program made, its ignition server and its approver as
//! processes of their own, and real kubelets that join with what that server gave them. Beside them, at every moment of a
//! host's life, everybody who might want to be one of them.
//!
//! ```text
//! Cluster      the folder, the control plane and the machines    cluster.rs
//! Credential   what somebody has in hand                          credential.rs
//! Ask          what somebody wants                                ask.rs
//! Attacker     who has what and wants what                        attacker.rs
//! Siege        all of them at one moment, and what they got       siege.rs
//! Report       a table, and how long hosts took                   report.rs
//! drill.rs     the moments, in order
//! replacement.rs  a host that is replaced while another process approves
//! ```
//!
//! `cargo xtask drill attackers` runs it with thousands of attempts and holds hosts to a time; here it is only who got in.

mod ask;
mod attacker;
mod cluster;
mod credential;
mod drill;
mod replacement;
mod report;
mod siege;
