//! Machines of a cloud: the real program, with a stand-in for `gcloud` that writes down every call and remembers what was made.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod create_cluster;
#[path = "../../../hardway-machines/tests/install_media/fixture.rs"]
#[allow(dead_code, reason = "each test program uses its own part")]
mod live_image;
#[path = "../bare_metal/running.rs"]
#[allow(dead_code, reason = "each test program uses its own part")]
mod running;
#[path = "../bare_metal/site.rs"]
#[allow(dead_code, reason = "each test program uses its own part")]
mod site;
