//! A real etcd and a real kube-apiserver, with the CRDs of OpenShift and nobody who acts on them: a driver plays the
//! operators.

mod backup;
mod balancer;
mod broken;
mod console;
mod directories;
mod driver;
mod leaving;
mod maintenance;
mod members;
mod pods;
mod proxy;
mod removal;
mod three_members;
mod verifying;
mod waiting;
mod watching;
