//! Machines with and without a management controller: the real program, a real Redfish emulator (sushy-tools), an ISO with
//! the structure of a real one that the emulator fetches from `hardway media serve`.

mod by_hand;
mod controller;
mod create_cluster;
pub(crate) mod first_boot;
mod joining;
mod masters;
mod name_service;
pub(crate) mod node;
mod restore;
pub(crate) mod site;
