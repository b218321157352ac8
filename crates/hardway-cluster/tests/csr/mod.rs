//! Certificate requests: the policy on data alone, and the approver on a real etcd, kube-apiserver and
//! kube-controller-manager.

mod approver;
mod policy;
mod support;
