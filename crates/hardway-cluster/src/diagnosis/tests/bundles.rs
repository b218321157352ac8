//! Bundles made here, good and hostile.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use tar::{Builder, EntryType, Header};

use crate::diagnosis::{Api, BundleError, BundleLimits, first_broken, from_bundle};
use crate::gather::copy_redacted;
use hardway_base::redaction::Redactor;

type Archive = Builder<GzEncoder<Vec<u8>>>;

fn bundle(fill: impl FnOnce(&mut Archive)) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    fill(&mut builder);
    builder.into_inner().unwrap().finish().unwrap()
}

fn add(archive: &mut Archive, path: &str, text: &str) {
    let mut header = Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, format!("log-bundle-20261115/{path}"), text.as_bytes()).unwrap();
}

/// A name that the library would not write.
fn add_raw(archive: &mut Archive, kind: EntryType, name: &[u8], size: u64, content: &[u8]) {
    let mut header = Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    archive.append(&header, content).unwrap();
}

#[test]
fn a_bundle_is_diagnosed_without_a_cluster() {
    let failure = r#"{"phase":"stage start","stage":"wait-for-etcd"}
{"phase":"stage end","stage":"wait-for-etcd","result":"failure","errorLine":"bootkube.sh 200","errorMessage":"etcd is not healthy"}
"#;
    let made = |log: &str| {
        bundle(|archive| {
            add(archive, "bootstrap/services/bootkube.stream.jsonl", failure);
            add(archive, "bootstrap/journals/crio.log", log);
            add(archive, "resources/nodes.json", &json!({"items": []}).to_string());
            add(archive, "resources/openapi.json", "not looked at");
        })
    };
    let evidence = from_bundle(made("all is well\n").as_slice(), BundleLimits::default()).unwrap();
    assert_eq!(evidence.api, Api::Answers);
    let first = first_broken(&evidence).unwrap();
    assert_eq!(first.code, "E-B25");
    assert!(first.evidence[0].contains("etcd is not healthy"), "{first:?}");

    // What explains the failure is said instead of it.
    let log = "x\nNov 15 crio: unauthorized: access to the requested resource is not authorized\n";
    let evidence = from_bundle(made(log).as_slice(), BundleLimits::default()).unwrap();
    let first = first_broken(&evidence).unwrap();
    assert_eq!(first.code, "E-B2");
    assert!(first.evidence[0].starts_with("bootstrap host, crio: "), "{first:?}");
}

#[test]
fn records_of_openshift_install_and_long_names_are_read() {
    let list = json!([{"phase": "service start"}, {"phase": "service end", "result": "failure", "errorMessage": "manifest unknown"}]);
    let long =
        format!("control-plane/192.168.126.101/containers/{}-{}.log", "etcd", "0123456789abcdef".repeat(8));
    let bytes = bundle(|archive| {
        add(archive, "bootstrap/services/release-image.json", &list.to_string());
        add(archive, &long, "request cluster ID mismatch\n");
    });
    let evidence = from_bundle(bytes.as_slice(), BundleLimits::default()).unwrap();
    assert_eq!(first_broken(&evidence).unwrap().code, "E-B26");
    assert!(evidence.logs[0].name.starts_with("etcd-0123"), "{:?}", evidence.logs);
}

#[test]
fn hostile_archives_are_refused() {
    let limits = BundleLimits { total: 1 << 20, kept: 100 << 10, file: 64 << 10, tail: 4 << 10, entries: 50 };
    let read = |bytes: &[u8]| from_bundle(bytes, limits).map(|_| ()).unwrap_err();
    for name in ["../../etc/cron.d/x", "/etc/passwd", "a/../../b"] {
        let bytes = bundle(|archive| add_raw(archive, EntryType::Regular, name.as_bytes(), 1, b"x"));
        assert!(matches!(read(&bytes), BundleError::Outside(_)), "{name}");
    }
    let link = bundle(|archive| add_raw(archive, EntryType::Symlink, b"../x", 0, b""));
    assert!(matches!(read(&link), BundleError::Outside(_)));

    let zeros = "0".repeat(40 << 20);
    let bomb = bundle(|archive| add(archive, "resources/openapi.json", &zeros));
    assert!(bomb.len() < 1 << 20, "it is small before it is opened");
    assert!(matches!(read(&bomb), BundleError::TooLarge(_)));
    let large = bundle(|archive| add(archive, "resources/nodes.json", &zeros[..100 << 10]));
    assert!(matches!(read(&large), BundleError::TooLarge(_)));
    for (path, size) in [("bootstrap/services/{}.json", 60 << 10), ("bootstrap/journals/{}.log", 4 << 10)] {
        let fit = (95 << 10) / size;
        let of = |count: usize| {
            bundle(|archive| {
                (0..count).for_each(|n| add(archive, &path.replace("{}", &n.to_string()), &zeros[..size]));
            })
        };
        from_bundle(of(fit).as_slice(), limits).unwrap();
        assert!(matches!(read(&of(fit + 2)), BundleError::TooMuch(_)), "many small ones: {path}");
    }
    let name = bundle(|archive| {
        add_raw(archive, EntryType::GNULongName, b"x", 512 << 10, &zeros.as_bytes()[..512 << 10])
    });
    assert!(matches!(read(&name), BundleError::TooLarge(_)), "a name without an end");
    let many = bundle(|archive| (0..60).for_each(|n| add(archive, &format!("x/{n}"), "")));
    assert!(matches!(read(&many), BundleError::TooMany(50)));

    assert!(matches!(read(b"no archive at all"), BundleError::Unreadable(_)));
    let whole = bundle(|archive| add(archive, "bootstrap/journals/crio.log", "x"));
    assert!(matches!(read(&whole[..whole.len() / 2]), BundleError::Unreadable(_)));
    let other = bundle(|archive| add(archive, "readme", "x"));
    assert!(matches!(read(&other), BundleError::NotABundle));
}

#[test]
fn a_copy_has_no_secrets_and_is_read_like_the_first() {
    let mut inner = GzEncoder::new(Vec::new(), Compression::fast());
    inner.write_all(b"kubeadmin said aaaaa-bbbbb-ccccc-ddddd\n").unwrap();
    let inner = inner.finish().unwrap();
    let bytes = bundle(|archive| {
        add(archive, "bootstrap/journals/crio.log", "{\"auth\":\"bWU6aHVzaA==\"}\ncluster ID mismatch\n");
        add(archive, "bootstrap/network/hostname.txt", "bootstrap\n");
        add(archive, "bootstrap/binary", "a\0b");
        let mut header = Header::new_gnu();
        header.set_size(inner.len() as u64);
        archive
            .append_data(&mut header, "log-bundle/bootstrap/journals/journal.log.gz", inner.as_slice())
            .unwrap();
    });
    let redactor = Redactor::new([hardway_base::Secret::new("aaaaa-bbbbb-ccccc-ddddd")]);
    let mut copy = Vec::new();
    let gathered = copy_redacted(bytes.as_slice(), &mut copy, &redactor, BundleLimits::default()).unwrap();
    assert_eq!(
        (gathered.files, gathered.redacted, gathered.left_out),
        (3, 2, vec!["bootstrap/binary".to_owned()])
    );

    let mut all = String::new();
    crate::diagnosis::walk(copy.as_slice(), BundleLimits::default(), |path, reader| {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        if path.ends_with(".gz") {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut text)
                .unwrap();
            all += &text;
        } else {
            all += &String::from_utf8(bytes).unwrap();
        }
        Ok(())
    })
    .unwrap();
    assert!(!all.contains("bWU6") && !all.contains("aaaaa-"), "{all}");
    assert!(all.contains("kubeadmin said <redacted>") && all.contains("cluster ID mismatch"), "{all}");
    assert_eq!(
        first_broken(&from_bundle(copy.as_slice(), BundleLimits::default()).unwrap()).unwrap().code,
        "E-B5"
    );
}
