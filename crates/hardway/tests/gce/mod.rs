//! Machines of a cloud: the real program, with a stand-in for `gcloud` that writes down every call and remembers what was made.

mod create_cluster;
