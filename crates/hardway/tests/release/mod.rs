//! `hardway release` as a person meets it: the real binary against a real registry on loopback.

mod extract;
mod info;
mod media;
mod media_server;
mod mirror;
mod reaching;
mod signature;
mod site;
