//! The load balancer: whether what a member answers comes through it.
//!
//! ```text
//! Identity       a certificate and key of this run, and the words that a backend answers     backend.rs
//! Backend        stands in for a member, where this host has a member's address              backend.rs
//! BalancerSeen   all four ports                                                              balancer_seen.rs
//! judge()        pure                                                                        judgement.rs
//! ```

mod backend;
mod balancer_seen;
mod judgement;

pub(super) use balancer_seen::BalancerSeen;

use super::Judged;
use super::scene::Scene;

pub(super) fn api(scene: &Scene<'_>) -> Judged {
    judgement::judge(scene.balancer(), "api")
}

pub(super) fn machine_config_server(scene: &Scene<'_>) -> Judged {
    judgement::judge(scene.balancer(), "machine-config-server")
}

pub(super) fn ingress_https(scene: &Scene<'_>) -> Judged {
    judgement::judge(scene.balancer(), "ingress-https")
}

pub(super) fn ingress_http(scene: &Scene<'_>) -> Judged {
    judgement::judge(scene.balancer(), "ingress-http")
}
