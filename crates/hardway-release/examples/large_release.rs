//! A registry with a release as large as a real one, for `cargo xtask bench`: 902 manifests, as 4.18.0 has, over 300 MB of
//! lower layers. Prints its pull spec and its size. Then, for every line it is given, how many bytes of blobs were
//! fetched since the line before.
#![expect(clippy::unwrap_used, reason = "a world for measuring in, as for tests")]
#![expect(clippy::print_stdout, reason = "its output is read by the bench")]
#![allow(clippy::disallowed_methods, reason = "the fixture sets the world up as others do")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::sync::atomic::Ordering;

use fixture::cutter::Cutter;
use fixture::registry::Registry;
use fixture::release::{ReleaseImage, crd};

const BALLAST: usize = 300_000_000;

fn main() {
    let manifest = |i: usize| {
        let text = format!("{}# {}\n", crd(&format!("things{i}.example.com")), "schema ".repeat(1500));
        (format!("0000_50_thing-{i:04}.crd.yaml"), text.into_bytes())
    };
    let extra = (0..898).map(manifest).collect();
    let image = ReleaseImage { ballast: BALLAST, extra, ..ReleaseImage::default() }.build();
    let registry = Registry::open();
    registry.pusher("ocp/release").image(&image, Some("large"));
    // It counts; nothing is cut.
    let counter = Cutter::before(registry.port);
    println!("127.0.0.1:{}/ocp/release:large", counter.port);
    println!("{}", image.blobs.iter().map(Vec::len).sum::<usize>());
    for _ in std::io::stdin().lines().map_while(Result::ok) {
        println!("{}", counter.passed.swap(0, Ordering::SeqCst));
    }
}
