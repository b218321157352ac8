//! Machines of a cloud: the real program, with a stand-in for `gcloud` that writes down every call and remembers what was made.

pub(crate) mod create_cluster;
