//! The Redfish client against a real emulator (sushy-tools, `HARDWAY_SUSHY_TOOLS`, set by ./test.sh), and, for what the
//! emulator does not have, against stand-ins that answer as vendors' controllers do.

mod emulated;
mod media;
mod stand_in;
mod vendors;
