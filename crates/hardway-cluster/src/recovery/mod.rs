//! Nodes that were off until their kubelets' certificates had ended.
//!
//! Such a kubelet begins as a new machine does: it asks for a client certificate with the identity that lies on every node, and then,
//! as itself, for one to serve with. The policy holds the first of the two, since a node that is there needs no first certificate. Here a
//! person says that the cluster was off; what may come in by that is kept as small as can be.
//!
//! ```text
//! Assessment   who is silent, since when, and what waits: pure           assessment.rs
//! Recovery     looks twice, then lets the silent ones in, once each      run.rs
//! ```
//!
//! What else ends: the certificates of the control plane, which its operators renew by themselves once it runs
//! (openshift/cluster-kube-apiserver-operator cmd/cluster-kube-apiserver-operator `cert-regeneration-controller`); and the first
//! certificates of an install that takes longer than a day, which are files of the working folder.

mod assessment;
mod run;

pub use assessment::{Assessment, Heard, Kubelet, Standing, Waiting};
pub use run::{Recovered, Recovery};
