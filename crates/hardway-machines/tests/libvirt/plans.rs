//! Plans, without a host.
