//! What stands around machines that are there: real HAProxy, keepalived and dnsmasq, on hosts of the tests' own.

mod balancer;
mod failover;
mod name_service;
mod site;
mod units;
