//! Install media against the real thing: images made by xorriso, skeletons of real CoreOS images, and the real
//! coreos-installer reading what we wrote and writing what we read.

mod damage;
mod fixture;
mod network_boot;
mod peer;
mod real_images;
mod round_trip;
