//! Certificate requests with real keys, for the tests of this crate.

pub(crate) mod corpus;
pub(crate) mod key;
pub(crate) mod pkcs10;
pub(crate) mod request;
