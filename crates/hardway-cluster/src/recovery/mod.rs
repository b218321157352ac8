//! Nodes that were off until their kubelets' certificates had ended.
//!
//! Such a kubelet begins as a new machine does: it asks for a client certificate with the identity that its host was installed with, and
//! then, as itself, for one to serve with. But that identity has ended too, and the policy holds the request of a node that is there. Here a
//! person says that the cluster was off: each silent host gets the next generation of its identity, put in place on the host itself; one
//! from a stock pointer a permission. What may come in by that is kept as small as can be.
//!
//! ```text
//! Assessment   who is silent, since when, and what waits: pure           assessment.rs
//! deliver()    brings a host its next identity                           delivery.rs
//! Recovery     looks twice, then lets the silent ones in, once each      run.rs
//! ```
//!
//! What else ends: the certificates of the control plane, which its operators renew by themselves once it runs
//! (openshift/cluster-kube-apiserver-operator cmd/cluster-kube-apiserver-operator `cert-regeneration-controller`); and the first
//! certificates of an install that takes longer than a day, which are files of the working folder.

mod assessment;
mod delivery;
mod run;

pub use assessment::{Assessment, Heard, Kubelet, Standing, Waiting};
pub use delivery::{deliver, put_in_place};
pub use run::{Recovered, Recovery};
