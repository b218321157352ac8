//! `hardway release` as a person meets it: the real binary against a real registry on loopback.

mod bundle;
mod extract;
pub(crate) mod graph_server;
mod info;
mod media;
mod media_server;
mod mirror;
mod reaching;
mod serve;
mod signature;
mod site;
mod words;
