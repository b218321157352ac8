//! Good requests are approved, and nothing else is, whatever it looks like.

mod corpus;
mod good;
mod history;
mod openssl;
mod properties;
mod requester;
