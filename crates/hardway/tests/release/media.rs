//! Boot images: where they are, and getting them.

use std::io::Write as _;

use hardway_release::Digest;
use hardway_testing::{INVENTORY, Running};
use serde_json::{Value, json};

use super::media_server::MediaServer;
use super::site::Site;
use crate::fixture::release::{ReleaseImage, boot_images};
use crate::fixture::world::world_of;
use crate::work;

/// A release whose boot images are on a server of the test.
struct Media {
    site: Site,
    server: MediaServer,
    iso: Vec<u8>,
    disk: Vec<u8>,
}

const ISO: &str = "art/rhcos-live.x86_64.iso";
const DISK: &str = "art/rhcos-qemu.x86_64.qcow2.gz";

fn sum(bytes: &[u8]) -> String {
    Digest::of(bytes).hex().to_owned()
}

fn media() -> Media {
    let server = MediaServer::start();
    let iso: Vec<u8> = (0..300_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let content = b"disk".repeat(1000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&content).unwrap();
    let disk = gzip.finish().unwrap();
    server.put(ISO, &iso);
    server.put(DISK, &disk);
    let part = |name: &str, bytes: &[u8]| json!({"location": server.url(name), "sha256": sum(bytes)});
    let mut qcow = part(DISK, &disk);
    qcow["uncompressed-sha256"] = sum(&content).into();
    let mut lying = part(DISK, &disk);
    lying["uncompressed-sha256"] = sum(b"something else").into();
    let stream = json!({"stream": "rhcos-4.18", "architectures": {"x86_64": {
        "artifacts": {
            "metal": {"formats": {
                "iso": {"disk": part(ISO, &iso)},
                "pxe": {"kernel": part("k/kernel", b"kernel"), "initramfs": part("k/initramfs.img", b"init"), "rootfs": part("k/rootfs.img", b"root")}}},
            "qemu": {"formats": {"qcow2.gz": {"disk": qcow}}},
            "openstack": {"formats": {"qcow2.gz": {"disk": lying}}}},
        "images": {"gcp": {"project": "rhcos-cloud", "name": "rhcos-1"}}}}});
    for (name, bytes) in
        [("k/kernel", &b"kernel"[..]), ("k/initramfs.img", b"init"), ("k/rootfs.img", b"root")]
    {
        server.put(name, bytes);
    }
    let release = ReleaseImage { boot_images: boot_images(&stream.to_string()), ..ReleaseImage::default() };
    Media { site: Site::with(world_of(release)), server, iso, disk }
}

impl Media {
    fn args<'a>(&self, tag: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["media", tag][..], more].concat()
    }
}

#[test]
fn location_and_sum_are_told() {
    let media = media();
    let (site, tag) = (&media.site, media.site.tag());
    let ran = site.plain(&media.args(&tag, &["--format", "iso"])).expect(0);
    assert_eq!(ran.stdout, format!("disk      {}\nsha256    {}\n", media.server.url(ISO), sum(&media.iso)));
    let json =
        site.plain(&media.args(&tag, &["--format", "qcow2.gz", "--arch", "x86_64", "-o", "json"])).expect(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["stream"], &json["architecture"]), (&"rhcos-4.18".into(), &"amd64".into()));
    assert_eq!(json["files"][0]["sha256"], sum(&media.disk));
    assert_eq!(json["files"][0]["uncompressedSha256"], sum(&b"disk".repeat(1000)));
    let gcp = site.plain(&media.args(&tag, &["--format", "gcp"])).expect(0);
    assert_eq!(gcp.stdout, "projects/rhcos-cloud/global/images/rhcos-1\n");
    let all = site.plain(&media.args(&tag, &[])).expect(0);
    assert_eq!(all.stdout, "iso\npxe\nqcow2.gz\ngcp\nopenstack/qcow2.gz\n");
    assert!(media.server.take_seen().is_empty());

    let ran = site.plain(&media.args(&tag, &["--format", "vmdk"])).expect(1);
    ran.says("error[media-not-found]").says("available: iso, pxe, qcow2.gz, gcp, openstack/qcow2.gz");
    let ran = site.plain(&media.args(&tag, &["--format", "iso", "--arch", "s390x"])).expect(1);
    ran.says("error[media-not-found]").says("available: x86_64");
    site.plain(&media.args(&tag, &["--format", "gcp", "--to", "x"])).expect(2).says("nothing to download");
}

#[test]
fn the_release_may_be_a_folder_or_the_one_of_the_inventory() {
    let media = media();
    let (site, tag) = (&media.site, media.site.tag());
    let iso = site.plain(&media.args(&tag, &["--format", "iso"])).expect(0).stdout;
    site.plain(&["extract", &tag, "--to", "rel"]).expect(0);
    assert_eq!(site.ok(&["media", "--release-dir", "rel", "--format", "iso"]).stdout, iso);
    site.work.write("inventory.yaml", INVENTORY.replace("image: sample", &format!("image: {tag}")));
    assert_eq!(site.plain(&["media", "--format", "iso"]).expect(0).stdout, iso);
    site.work.write("inventory.yaml", INVENTORY);
    site.run(&["media", "--format", "iso"]).expect(1).says("the sample release has no boot images");
    site.work.remove("inventory.yaml");
    site.run(&["media", "--format", "iso"]).expect(3).says("no inventory.yaml to take the release from");
    fs_err::remove_file(site.path("rel/0000_50_installer_coreos-bootimages.yaml")).unwrap();
    site.run(&["media", "--release-dir", "rel"]).expect(1).says("error[media-not-found]");
}

#[test]
fn a_download_is_checked_kept_and_not_repeated() {
    let media = media();
    let (site, tag) = (&media.site, media.site.tag());
    let args = media.args(&tag, &["--format", "iso", "--to", "boot"]);
    let ran = site.plain(&args).expect(0);
    assert!(ran.stdout.ends_with("file      boot/rhcos-live.x86_64.iso\n"), "{}", ran.stdout);
    ran.says("done: rhcos-live.x86_64.iso 292.97 KiB");
    assert_eq!(fs_err::read(site.path("boot/rhcos-live.x86_64.iso")).unwrap(), media.iso);
    assert_eq!(media.server.take_seen(), [format!("/{ISO} all")]);
    // There already; then in the cache; also after somebody changed the file, which is why it is no link.
    site.plain(&args).expect(0);
    site.plain(&media.args(&tag, &["--format", "iso", "--to", "other"])).expect(0);
    fs_err::write(site.path("boot/rhcos-live.x86_64.iso"), "customized").unwrap();
    site.plain(&args).expect(0);
    assert_eq!(fs_err::read(site.path("boot/rhcos-live.x86_64.iso")).unwrap(), media.iso);
    assert!(media.server.take_seen().is_empty());

    let json = site.plain(&media.args(&tag, &["--format", "pxe", "--to", "boot", "-o", "json"])).expect(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["files"].as_array().unwrap().len(), 3);
    assert_eq!(site.work.read(json["files"][0]["path"].as_str().unwrap()), "init");
    site.plain(&media.args(&tag, &["--format", "qcow2.gz", "--to", "boot"])).expect(0);
}

#[test]
fn a_download_that_broke_off_goes_on() {
    let media = media();
    let (site, tag) = (&media.site, media.site.tag());
    let args = media.args(&tag, &["--format", "iso", "--to", "boot"]);
    media.server.cut(&[100_000, 50_000]);
    site.plain(&args).expect(0);
    assert_eq!(fs_err::read(site.path("boot/rhcos-live.x86_64.iso")).unwrap(), media.iso);
    let seen = media.server.take_seen();
    assert_eq!(seen[0], format!("/{ISO} all"));
    assert!(seen.len() == 3 && seen[1..].iter().all(|line| line.ends_with('-')), "{seen:?}");
}

#[test]
fn what_an_earlier_run_left_is_used_or_thrown_away() {
    let media = media();
    let (site, tag) = (&media.site, media.site.tag());
    let args = media.args(&tag, &["--format", "iso", "--to", "boot"]);
    let cache = site.home.path("cache/hardway/blobs/sha256").join(&sum(&media.iso)[..2]);
    let partial = cache.join(format!("{}.partial", sum(&media.iso)));
    for (left, seen) in [
        (media.iso[..70_000].to_vec(), vec!["70000-"]),
        // Wrong bytes are found out at the end, and all is fetched again.
        (vec![0; 70_000], vec!["70000-", "all"]),
        (media.iso.clone(), vec!["300000-"]),
        (vec![0; 400_000], vec!["400000-", "all"]),
    ] {
        site.forget();
        fs_err::create_dir_all(&cache).unwrap();
        fs_err::write(&partial, left).unwrap();
        site.plain(&args).expect(0);
        assert_eq!(fs_err::read(site.path("boot/rhcos-live.x86_64.iso")).unwrap(), media.iso);
        let expected: Vec<_> = seen.iter().map(|range| format!("/{ISO} {range}")).collect();
        assert_eq!(media.server.take_seen(), expected);
        assert!(!partial.exists());
        fs_err::remove_dir_all(site.path("boot")).unwrap();
    }
}

#[test]
fn a_damaged_file_is_never_put_into_place() {
    let media = media();
    let (site, tag) = (&media.site, media.site.tag());
    let mut bad = media.iso.clone();
    bad[7] ^= 1;
    media.server.put(ISO, &bad);
    let args = media.args(&tag, &["--format", "iso", "--to", "boot"]);
    let ran = site.plain(&args).expect(1);
    assert_eq!(ran.stdout, "");
    ran.says("error[media-damaged]").says(&sum(&bad)).says(&sum(&media.iso));
    assert!(!site.work.exists("boot/rhcos-live.x86_64.iso"));
    // A mirror has the right one, by the same name.
    media.server.put("site/rhcos-live.x86_64.iso", &media.iso);
    let mirror = media.server.url("site/");
    site.plain(&[&args[..], &["--mirror", &mirror]].concat()).expect(0);
    assert_eq!(fs_err::read(site.path("boot/rhcos-live.x86_64.iso")).unwrap(), media.iso);

    let lying = media.args(&tag, &["--format", "openstack/qcow2.gz", "--to", "boot"]);
    site.plain(&lying).expect(1).says("error[media-damaged]").says("its unpacked sha256 is");
    assert!(!site.work.exists("boot/rhcos-qemu.x86_64.qcow2.gz"));
}

#[test]
fn a_file_that_no_place_has_is_told_with_all_places() {
    let media = media();
    let (site, tag) = (&media.site, media.site.tag());
    let mirror = media.server.url("empty");
    media.server.put(ISO, b"");
    let missing = media.args(&tag, &["--format", "iso", "--to", "boot", "--mirror", &mirror]);
    site.plain(&missing)
        .expect(1)
        .says("error[media-damaged]")
        .says("empty/rhcos-live.x86_64.iso: ")
        .says("answered 404");
}

/// They are in the file, and are had from it by their names.
#[test]
fn a_bundle_carries_boot_images() {
    let media = media();
    let site = Site { work: work::empty().with_real_clock(), ..media.site };
    let tag = site.tag();
    site.work.write("program", "the program");
    let args = ["bundle", &tag, "--to", "ocp.tar", "--program", "program"];
    let ran = site.plain(&[&args[..], &["--media", "iso", "--media", "pxe"]].concat()).expect(0);
    ran.does_not_say("no boot images");
    let text = site.ok(&["bundle", "--verify", "ocp.tar"]).stdout;
    for name in ["rhcos-live.x86_64.iso", "kernel", "initramfs.img", "rootfs.img"] {
        assert!(text.contains(&format!("boot image    {name}\n")), "{name}: {text}");
    }
    media.server.put(ISO, b"gone");
    site.plain(&["extract", &tag, "--to", "rel"]).expect(0);
    site.forget();
    let mut running = Running::start(site.command(&["serve", "ocp.tar", "--listen", "127.0.0.1:0"]));
    let host = running.line_after("serving https://").split('/').next().unwrap().to_owned();
    let mirror = format!("https://{host}/media/");
    let ca = site.path("registry/ca.crt").display().to_string();
    let args = [
        "media",
        "--release-dir",
        "rel",
        "--format",
        "iso",
        "--to",
        "boot",
        "--mirror",
        &mirror,
        "--trust-bundle",
        &ca,
    ];
    site.ok(&args);
    assert_eq!(fs_err::read(site.path("boot/rhcos-live.x86_64.iso")).unwrap(), media.iso);
    assert_eq!(running.interrupt(), Some(8));

    // What the machines of the inventory are installed from, unless somebody knows better.
    site.work.write("inventory.yaml", INVENTORY);
    media.server.put(ISO, &media.iso);
    site.plain(&["bundle", &tag, "--to", "default.tar", "--program", "program"]).expect(0);
    let text = site.ok(&["bundle", "--verify", "default.tar"]).stdout;
    assert!(text.contains("boot image    rhcos-live.x86_64.iso"), "{text}");
    site.plain(&["bundle", &tag, "--to", "no.tar", "--program", "program", "--media", "gcp"])
        .expect(2)
        .says("cannot be carried");
    site.plain(&["bundle", &tag, "--to", "no.tar", "--program", "program", "--media", "vmdk"])
        .expect(1)
        .says("error[media-not-found]");
}
