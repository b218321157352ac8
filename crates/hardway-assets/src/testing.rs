//! What unit tests share.

pub(crate) use crate::example::cluster;
