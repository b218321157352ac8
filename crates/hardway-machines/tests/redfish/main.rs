//! The Redfish client against a real emulator (sushy-tools, `HARDWAY_SUSHY_TOOLS`, set by ./test.sh), and, for what the
//! emulator does not have, against stand-ins that answer as vendors' controllers do.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod emulated;
mod media;
mod stand_in;
mod vendors;
