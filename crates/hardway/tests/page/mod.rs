//! `hardway page`: what it gives to whom over HTTP, and what a real browser makes of it.

mod chromium;
mod drawn;
mod explained;
mod files;
pub(crate) mod http;
mod measured;
mod names;
pub(crate) mod now;
mod recording;
