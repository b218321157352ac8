//! A real etcd and a real kube-apiserver, with the CRDs of OpenShift and nobody who acts on them: a driver plays the
//! operators.

mod balancer;
mod console;
mod driver;
mod leaving;
mod members;
mod proxy;
mod removal;
mod verifying;
mod waiting;
mod watching;
