//! Management controllers that speak Redfish: power, virtual media, and what is booted next.
//!
//! ```text
//! BmcAddress      where a controller is, as OpenShift's other installers write it     address.rs
//! Bmc             that, with its login and whom to trust                              address.rs
//! Controller      a controller that was reached: status, insert, eject, boot, power   controller.rs
//! VirtualMedia    the CD drive that is not there                                      virtual_media.rs
//! transport       one request, one answer                                             transport.rs
//! trust           whose certificate is accepted                                       trust.rs
//! ```
//!
//! The requests are those that OpenShift's installers and metal3 make (karmab/kcli kvirt/kfish, metal3-io documentation),
//! with the deviations of vendors that are known from there. A password is read from a file of its own, goes into a
//! header, and appears nowhere else: answers are searched for it before they are quoted.

mod address;
mod controller;
mod error;
mod status;
mod transport;
mod trust;
mod virtual_media;

pub use address::{Bmc, BmcAddress, BmcAddressError, Login};
pub use controller::Controller;
pub use error::RedfishError;
pub use status::{BootFrom, Power, Status};
pub use trust::Trust;
