use super::*;
use serde_json::json;

fn disk(name: &str) -> Value {
    json!({"disk": {"location": format!("https://mirror.example.com/{name}"), "sha256": "a".repeat(64)}})
}

fn stream() -> Value {
    let part = |name: &str| disk(name)["disk"].clone();
    let mut qcow = disk("qemu.qcow2.gz");
    qcow["disk"]["uncompressed-sha256"] = "b".repeat(64).into();
    json!({"stream": "rhcos-4.18", "architectures": {
        "x86_64": {
            "artifacts": {
                "metal": {"release": "1", "formats": {
                    "iso": disk("live.iso"), "raw.gz": disk("metal.raw.gz"), "4k.raw.gz": {"disk": {"location": "x"}},
                    "pxe": {"kernel": part("kernel"), "initramfs": part("initramfs"), "rootfs": part("rootfs")}}},
                "qemu": {"release": "1", "formats": {"qcow2.gz": qcow}},
                "openstack": {"release": "1", "formats": {"qcow2.gz": disk("openstack.qcow2.gz")}}},
            "images": {
                "aws": {"regions": {"eu-west-1": {"image": "ami-1"}, "us-east-1": {"image": "ami-2"}}},
                "gcp": {"project": "rhcos-cloud", "name": "rhcos-1-x86-64"},
                "kubevirt": {"image": "quay.io/a:b", "digest-ref": "quay.io/a@sha256:1"}}},
        "s390x": {"artifacts": {"metal": {"formats": {"iso": disk("s390x.iso")}}}},
    }})
}

fn images() -> BootImages {
    BootImages::read(&stream().to_string()).unwrap()
}

fn locations(media: Media) -> Vec<(String, String)> {
    match media {
        Media::Files(files) => files.into_iter().map(|file| (file.part, file.location)).collect(),
        Media::Image(image) => vec![(image.platform, image.name)],
    }
}

#[test]
fn every_format_is_found_by_both_names_of_the_architecture() {
    let rows = [
        ("iso", "disk https://mirror.example.com/live.iso"),
        ("raw.gz", "disk https://mirror.example.com/metal.raw.gz"),
        ("qcow2.gz", "disk https://mirror.example.com/qemu.qcow2.gz"),
        ("openstack/qcow2.gz", "disk https://mirror.example.com/openstack.qcow2.gz"),
        ("gcp", "gcp projects/rhcos-cloud/global/images/rhcos-1-x86-64"),
        ("kubevirt", "kubevirt quay.io/a@sha256:1"),
        ("aws/us-east-1", "aws ami-2"),
    ];
    for (format, expected) in rows {
        for architecture in ["amd64", "x86_64"] {
            let found = locations(images().find(architecture, format).unwrap());
            assert_eq!(found.len(), 1);
            assert_eq!(format!("{} {}", found[0].0, found[0].1), expected);
        }
    }
    let mut parts: Vec<_> =
        locations(images().find("amd64", "pxe").unwrap()).into_iter().map(|f| f.0).collect();
    parts.sort();
    assert_eq!(parts, ["initramfs", "kernel", "rootfs"]);
    let Media::Files(files) = images().find("amd64", "qcow2.gz").unwrap() else { panic!() };
    assert_eq!(files[0].uncompressed_sha256, Some("b".repeat(64)));
}

#[test]
fn what_is_not_there_names_what_is() {
    let text =
        |architecture: &str, format: &str| images().find(architecture, format).unwrap_err().to_string();
    assert_eq!(text("arm64", "iso"), "no boot images for architecture \"arm64\"; available: s390x, x86_64");
    assert_eq!(text("s390x", "gcp"), "no boot image \"gcp\" for s390x; available: iso");
    assert_eq!(
        text("amd64", "vmdk"),
        "no boot image \"vmdk\" for amd64; available: 4k.raw.gz, iso, pxe, raw.gz, qcow2.gz, gcp, kubevirt, \
         openstack/qcow2.gz, aws/eu-west-1 and 1 more"
    );
    assert!(images().find("amd64", "4k.raw.gz").is_err(), "a file without a sum cannot be checked");
    assert!(images().find("amd64", "aws/nowhere").is_err());
}

#[test]
fn config_maps_hold_one_stream_or_several() {
    let map = |data: Value| json!({"kind": "ConfigMap", "data": data}).to_string();
    let ten = stream().to_string().replace("rhcos-4.18", "rhel-10.2");
    let streams = format!("{{\"rhel-9\": {}, \"rhel-10\": {ten}}}", stream());
    let both = map(json!({"stream": stream().to_string(), "streams": streams}));
    assert_eq!(BootImages::read(&both).unwrap().name(), "rhcos-4.18");
    assert_eq!(BootImages::read_named(&both, "rhel-10").unwrap().name(), "rhel-10.2");
    for (version, name) in [("4.23.1", "rhcos-4.18"), ("5.0.0-ec.1", "rhel-10.2"), ("newest", "rhcos-4.18")] {
        let of = map(json!({"stream": stream().to_string(), "streams": streams, "releaseVersion": version}));
        assert_eq!(BootImages::read(&of).unwrap().name(), name, "{version}");
    }
    let error = BootImages::read_named(&both, "rhel-11").unwrap_err().to_string();
    assert_eq!(error, "the release has no stream \"rhel-11\"; available: rhel-10, rhel-9");
    for wrong in [map(json!({})), "{}".to_owned(), "a: [".to_owned(), map(json!({"stream": "{}"}))] {
        assert!(matches!(BootImages::read(&wrong), Err(MediaError::NotStream(_))), "{wrong}");
    }
}

#[test]
fn a_file_is_compared_with_its_sum() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("live.iso");
    fs_err::write(&path, "abc").unwrap();
    let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    verify(&path, sum).unwrap();
    verify(&path, &sum.to_uppercase()).unwrap();
    fs_err::write(&path, "abd").unwrap();
    assert!(matches!(verify(&path, sum), Err(VerifyError::Differs { .. })));
    assert!(matches!(verify(&dir.path().join("absent"), sum), Err(VerifyError::Io(_))));
}

/// The real metadata of 4.18, where this machine has it.
#[test]
fn the_real_stream_of_4_18_reads() {
    let Some(file) = hardway_testing::real_data("rhcos-4.18.json") else { return };
    let text = fs_err::read_to_string(file).unwrap();
    let images = BootImages::read(&text).unwrap();
    assert_eq!(images.architectures(), ["aarch64", "ppc64le", "s390x", "x86_64"]);
    for architecture in images.architectures() {
        for format in ["iso", "pxe", "raw.gz", "4k.raw.gz", "qcow2.gz"] {
            let Media::Files(files) = images.find(&architecture, format).unwrap() else { panic!("{format}") };
            assert!(
                files.iter().all(|file| file.location.starts_with("https://") && file.sha256.len() == 64)
            );
        }
    }
    let iso = images.find("amd64", "iso").unwrap();
    let Media::Files(files) = iso else { panic!() };
    assert_eq!(files[0].sha256, "261eb3137e3bc874142083363b437976319975be3d076891d9634c9340fd3c0e");
}
