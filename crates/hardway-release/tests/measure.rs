//! How long and how many bytes a large release takes. Run by hand:
//! `cargo test --release -p hardway-release --test measure -- --ignored --nocapture`.
#![expect(clippy::unwrap_used, reason = "clippy does not see that the helpers here are test code")]
#![allow(clippy::disallowed_methods, reason = "the fixture sets the world up as others do")]

mod fixture;

use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Instant;

use fixture::cutter::Cutter;
use fixture::registry::Registry;
use fixture::release::{ReleaseImage, crd};
use fixture::{options, run};
use hardway_release::{Contents, FetchOptions, PullSpec, Silent, blocking, extract, fetch, info};

/// 902 manifests, as 4.18.0 has, over 300 MB of lower layers.
#[test]
#[ignore = "takes long and measures only"]
fn a_large_release() {
    let registry = Registry::open();
    let manifest = |i: usize| {
        let text = format!("{}# {}\n", crd(&format!("things{i}.example.com")), "schema ".repeat(1500));
        (format!("0000_50_thing-{i:04}.crd.yaml"), text.into_bytes())
    };
    let release = ReleaseImage {
        ballast: 300_000_000,
        extra: (0..898).map(manifest).collect(),
        ..ReleaseImage::default()
    };
    registry.pusher("ocp/release").image(&release.build(), Some("large"));
    let cutter = Cutter::before(registry.port);
    let spec: PullSpec = format!("127.0.0.1:{}/ocp/release:large", cutter.port).parse().unwrap();
    let cached = tempfile::tempdir().unwrap();
    let mut options = options(cached.path(), &registry);
    options.connection.plain_http.push(spec.registry());
    let cold = |name: &str, work: &dyn Fn(&FetchOptions)| {
        let cache = tempfile::tempdir().unwrap();
        let options = FetchOptions { cache: hardway_release::BlobCache::at(cache.path()), ..options.clone() };
        cutter.passed.store(0, Ordering::SeqCst);
        let start = Instant::now();
        work(&options);
        println!("{name}: {:?}, {} bytes", start.elapsed(), cutter.passed.load(Ordering::SeqCst));
        cutter.passed.load(Ordering::SeqCst)
    };
    let bytes = cold("info", &|options| {
        blocking(info(&spec, options, &Silent)).unwrap().unwrap();
    });
    assert!(bytes < 3_000_000, "at most a hundredth of the image: {bytes}");
    cold("extract", &|options| {
        let options = FetchOptions { contents: Contents::Manifests, ..options.clone() };
        let release = blocking(fetch(&spec, &options, &Silent)).unwrap().unwrap();
        let (dir, start) = (tempfile::tempdir().unwrap(), Instant::now());
        extract(&release, dir.path(), None).unwrap();
        println!("  of which writing: {:?}", start.elapsed());
    });
    cold("skopeo copy", &|_| {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (format!("docker://{spec}"), format!("dir:{}", dir.path().display()));
        run(Command::new("skopeo").args(["copy", "-q", "--src-tls-verify=false", &from, &to]));
    });
}
