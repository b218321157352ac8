//! HyperShift platform None: the workers of hosted clusters.
pub mod config_watch;
pub mod gates;
pub mod hash;
pub mod names;
pub mod node_view;
pub mod objects;
pub mod pointer;
pub mod reconcile;
pub mod render;
pub mod token;
pub mod upgrade;
pub mod worker;
