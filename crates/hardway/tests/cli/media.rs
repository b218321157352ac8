//! `hardway media`: media for the hosts of a working folder, made from an image with the structure of a real one.

use std::process::Command;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot, Work, needed, with_hardware};
use serde_json::Value;

use crate::live_image::{AREA, Builder, DEFAULT, pristine};
use crate::work;

/// Every host with a card and a disk, and configs made.
pub(crate) fn made() -> Work {
    let work = work::made();
    let mut inventory = INVENTORY.to_owned();
    for (i, ip) in ["100", "101", "102", "103", "110"].iter().enumerate() {
        let (from, to) = (
            format!("ip: 192.168.126.{ip}}}"),
            format!("ip: 192.168.126.{ip}, mac: \"52:54:00:7e:00:0{i}\", installDisk: /dev/vda}}"),
        );
        inventory = inventory.replace(&from, &to);
    }
    work.write("inventory.yaml", inventory);
    work.ok(&["create", "ignition-configs"]);
    work
}

pub(crate) fn iso() -> &'static str {
    pristine().to_str().unwrap()
}

fn shown(work: &Work, file: &str) -> Value {
    serde_json::from_str(&work.ok(&["media", "show", file, "-o", "json"]).stdout).unwrap()
}

/// The file at a path of an Ignition config, whose contents are percent-encoded.
pub(crate) fn file(config: &Value, path: &str) -> String {
    let files = config["storage"]["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("no {path}"));
    let url = file["contents"]["source"].as_str().unwrap().strip_prefix("data:,").unwrap();
    let mut bytes = Vec::new();
    let mut rest = url.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        if *byte == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The embedded config. It is secret, so not by way of `Work::run`, which forbids that secrets show.
pub(crate) fn embedded(work: &Work, file: &str) -> Value {
    let output = work.command(&["media", "show", file, "--ignition"]).output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_host_gets_an_iso_with_its_whole_config() {
    let work = made();
    work.ok(&["media", "iso", "--host", "master-0", "--iso", iso()]).says("the complete config");
    assert_eq!(work.mode("media/master-0.iso"), 0o600);
    let config = embedded(&work, "media/master-0.iso");
    assert_eq!(file(&config, "/etc/coreos/dest.ign"), work.read("ignition/master-0.ign"));
    let settings = file(&config, "/etc/coreos/installer.d/0000-hardway.yaml");
    assert!(
        settings.contains("dest-device: /dev/vda\n") && settings.contains("copy-network: true\n"),
        "{settings}"
    );
    let value = shown(&work, "media/master-0.iso");
    assert_eq!(value["networkKeyfiles"], serde_json::json!(["hardway.nmconnection"]));
    assert_eq!(value["ignition"]["runsInstaller"], true);
    assert_eq!(value["pristine"], false);
    assert_eq!(value["kernelArguments"]["current"], DEFAULT);
    work.ok(&["media", "show", "media/master-0.iso", "-o", "yaml"]);
    assert!(work.ok(&["media", "show", "media/master-0.iso"]).stdout.contains("runs the installer"));

    work.ok(&["media", "remove", "media/master-0.iso", "--to", "as-it-was.iso"]);
    let before = fs_err::read(pristine()).unwrap();
    assert!(fs_err::read(work.path("as-it-was.iso")).unwrap() == before);
}

#[test]
fn what_is_too_large_becomes_a_pointer_with_a_hash() {
    let work = made();
    let small = work.path("small.iso");
    let builder = Builder::new();
    builder.file("images/ignition.img", vec![0; 32 << 10]);
    builder.build(&small);
    let args = ["media", "iso", "--all", "--iso", "small.iso"];
    // Not all fit, and there is no pointer: everything is told at once, and what fits is written.
    let ran = work.run(&args).expect(4).says("error[media-full]").says("the embed area has 32768");
    assert!(ran.stderr.contains("--ignition-url"), "{}", ran.stderr);
    assert!(work.exists("media/worker-0.iso") && !work.exists("media/bootstrap.iso"));

    let url = "http://192.168.126.1:8080/";
    work.ok(&[&args[..], &["--ignition-url", url]].concat())
        .says("bootstrap.iso: written, with a pointer with a hash (http://192.168.126.1:8080/bootstrap.ign)")
        .says("worker-0.iso: written, with the complete config");
    let config = embedded(&work, "media/bootstrap.iso");
    let pointer: Value = serde_json::from_str(&file(&config, "/etc/coreos/dest.ign")).unwrap();
    let replace = &pointer["ignition"]["config"]["replace"];
    assert_eq!(replace["source"], "http://192.168.126.1:8080/bootstrap.ign");
    let sum = Command::new("sha512sum").arg(work.path("bootstrap.ign")).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    let expected = format!("sha512-{}", sum.split(' ').next().unwrap());
    assert_eq!(replace["verification"]["hash"], expected.as_str());

    // A pointer that lies in the folder is taken by itself, if it is for this config.
    let args = ["media", "iso", "--host", "bootstrap", "--iso", "small.iso"];
    fs_err::create_dir_all(work.path("ignition/pointers")).unwrap();
    work.write("ignition/pointers/bootstrap.ign", pointer.to_string());
    work.ok(&args).says("a pointer with a hash (ignition/pointers/bootstrap.ign)");
    work.write("ignition/pointers/bootstrap.ign", pointer.to_string().replace("sha512-", "sha512-0"));
    work.run(&args).expect(1).says("points to another config");
}

#[test]
fn live_and_installed_systems_can_be_changed() {
    let work = made();
    work.write("wipe", "#!/bin/sh\n");
    work.write("bond0.nmconnection", "[connection]\nid=bond0\n");
    work.write("extra.ign", r#"{"ignition":{"version":"3.2.0"}}"#);
    let changes = "--pre-install wipe --post-install wipe --network-keyfile bond0.nmconnection --live-ignition extra.ign \
                   --live-karg-append console=ttyS0 --live-karg-delete ignition.firstboot \
                   --live-karg-replace ignition.platform.id=metal=qemu --dest-karg-append nosmt --dest-karg-delete quiet";
    let args: Vec<&str> = ["media", "iso", "--host", "worker-0", "--iso", iso()]
        .into_iter()
        .chain(changes.split_whitespace())
        .collect();
    work.ok(&args);
    let value = shown(&work, "media/worker-0.iso");
    assert_eq!(
        value["kernelArguments"]["current"],
        "coreos.liveiso=rhcos-synthetic ignition.platform.id=qemu console=ttyS0"
    );
    assert_eq!(value["networkKeyfiles"].as_array().unwrap().len(), 2);
    let config = embedded(&work, "media/worker-0.iso");
    let settings = file(&config, "/etc/coreos/installer.d/0000-hardway.yaml");
    assert!(settings.contains("append-karg:\n- nosmt\n") && settings.contains("delete-karg:\n- quiet\n"));
    assert_eq!(config["systemd"]["units"].as_array().unwrap().len(), 2);
    assert!(config["ignition"]["config"]["merge"][0]["source"].is_string());
}

#[test]
fn an_image_is_embedded_into_without_a_cluster() {
    let work = work::empty();
    work.write("a.ign", "{}");
    let before = fs_err::read(pristine()).unwrap();
    let embed = ["media", "embed", iso(), "--to", "b.iso"];
    work.ok(&[&embed[..], &["--live-ignition", "a.ign", "--live-karg-append", "a=b"]].concat());
    assert_eq!(embedded(&work, "b.iso"), serde_json::json!({}));
    assert!(fs_err::read(pristine()).unwrap() == before, "the image was written to");
    work.refused(2, &["media", "embed", "b.iso", "--to", "b.iso"]).says("overwrite itself");
    work.refused(2, &[&embed[..], &["--live-karg-delete", "absent"]].concat())
        .says("cannot delete it: no such argument");
    work.refused(2, &[&embed[..], &["--network-keyfile", "a.ign"]].concat()).says(".nmconnection");
    work.refused(2, &["media", "embed", iso(), "--to", "b.iso", "--live-ignition", "absent"]).says("absent");
    let long = "x".repeat(2000);
    work.refused(4, &[&embed[..], &["--live-karg-append", &long]].concat()).says("error[media-full]");
    work.refused(4, &["media", "show", iso(), "--ignition"]).says("no Ignition config");
}

#[test]
fn images_that_cannot_be_used_are_refused_and_nothing_is_written() {
    let work = made();
    work.write("foreign.iso", "#!/bin/sh\n");
    let cut = fs_err::read(pristine()).unwrap();
    work.write("cut.iso", &cut[..cut.len() - 200_000]);
    let args = |image| ["media", "iso", "--host", "master-0", "--to", "out", "--iso", image];
    work.refused(4, &args("foreign.iso")).says("error[media-unusable]").says("not an ISO 9660 image");
    work.refused(4, &args("cut.iso")).says("the image is truncated");
    work.refused(2, &args("absent.iso")).says("absent.iso does not exist");
    let old = Builder::new();
    old.remove("coreos/features.json");
    old.build(&work.path("old.iso"));
    work.refused(4, &args("old.iso")).says("does not support settings for the installer");
    work.refused(4, &args(iso())[..4])
        .says("error[media-missing]")
        .says("the sample release has none")
        .does_not_say("hardway release media");
    work.refused(2, &["media", "iso", "--host", "nobody", "--iso", iso()])
        .says("hosts in the inventory: bootstrap, master-0");
    work.refused(2, &["media", "iso", "--iso", iso()]);
    work.ok(&["media", "iso", "--host", "master-0", "--iso", iso()]);
    work.run(&args("media/master-0.iso")).expect(4).says("already has something embedded");

    let bare = work::made();
    bare.run(&["media", "iso", "--host", "master-0", "--iso", iso()]).expect(3).says("has no installDisk");
    bare.refused(3, &["media", "pxe", "--url", "http://a", "--iso", iso()]).says("bootstrap has no mac");
    let unmade = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    unmade
        .run(&["media", "iso", "--host", "master-0", "--iso", iso()])
        .expect(2)
        .says("hardway create ignition-configs");
}

#[test]
fn a_dry_run_writes_nothing_and_an_image_in_the_folder_is_found() {
    let work = made();
    fs_err::create_dir(work.path("media")).unwrap();
    fs_err::copy(pristine(), work.path("media/rhcos-live.iso")).unwrap();
    work.write("media/master-0.iso", "from before");
    work.write("media/.hardway-cut-off", "half an image");
    let before = Snapshot::of(work.root());
    work.ok(&["media", "iso", "--all", "--dry-run"])
        .says("rhcos-live.iso without verifying its checksum")
        .says("worker-0.iso: would be written");
    before.assert_untouched(&Snapshot::of(work.root()));
    work.ok(&["media", "iso", "--all"]);
    assert!(!work.exists("media/.hardway-cut-off"));
    let sizes: Vec<u64> = ["bootstrap", "master-0", "master-1", "master-2", "worker-0"]
        .map(|host| fs_err::metadata(work.path(&format!("media/{host}.iso"))).unwrap().len())
        .to_vec();
    assert_eq!(sizes, vec![fs_err::metadata(pristine()).unwrap().len(); 5]);
    work.edit("install-config.yaml", "name: ocp4", "name: ocp5");
    work.ok(&["media", "iso", "--host", "master-0"]).says("not up to date");
}

#[test]
fn the_boot_folder_has_a_script_for_every_machine() {
    let work = made();
    let ran = work.ok(&["media", "pxe", "--url", "http://192.168.126.1:8080/", "--iso", iso()]);
    ran.says("5 complete configs")
        .says("have DHCP name what `hardway media urls --url http://192.168.126.1:8080` prints");
    let script = work.read("pxe/ipxe/52-54-00-7e-00-01");
    for part in [
        "kernel http://192.168.126.1:8080/vmlinuz initrd=main ",
        " coreos.live.rootfs_url=http://192.168.126.1:8080/rootfs.img ",
        " coreos.inst.install_dev=/dev/vda ",
        " coreos.inst.ignition_url=http://192.168.126.1:8080/ignition/master-0.ign ",
        " BOOTIF=01-52-54-00-7e-00-01 ip=192.168.126.101::192.168.126.1:255.255.255.0:master-0.ocp4.example.com::none ",
    ] {
        assert!(script.contains(part), "{part:?} is not in:\n{script}");
    }
    assert!(work.read("pxe/boot.ipxe").contains("http://192.168.126.1:8080/ipxe/${netX/mac:hexhyp}"));
    assert_eq!(work.read("pxe/ignition/master-0.ign"), work.read("ignition/master-0.ign"));
    assert_eq!(work.mode("pxe/ignition/master-0.ign"), 0o600);
    assert_eq!(fs_err::read(work.path("pxe/rootfs.img")).unwrap(), vec![3; 300_000]);
    assert_eq!(work.mode("pxe/rootfs.img"), 0o644);

    let folder = hardway_machines::install_media::BootFolder::open(&work.path("pxe")).unwrap();
    assert_eq!(folder.hosts().count(), 5);

    let elsewhere =
        ["media", "pxe", "--url", "http://a", "--ignition-url", "https://b", "--to", "other", "--iso", iso()];
    work.ok(&elsewhere).does_not_say("complete configs");
    assert!(work.read("other/ipxe/52-54-00-7e-00-00").contains("ignition_url=https://b/bootstrap.ign "));
    assert!(!work.exists("other/ignition"));
    work.refused(2, &["media", "pxe", "--url", "tftp://a", "--iso", iso()]).says("http:// or https://");
}

#[test]
fn limits_of_platforms_are_listed_with_what_fits() {
    let text = work::empty().ok(&["media", "limits"]).stdout;
    assert!(text.contains("gce          262144 bytes"), "{text}");
    let work = made();
    let value: Value = serde_json::from_str(&work.ok(&["media", "limits", "-o", "json"]).stdout).unwrap();
    let host = |name: &str| {
        value["hosts"].as_array().unwrap().iter().find(|host| host["host"] == name).unwrap().clone()
    };
    assert_eq!(host("bootstrap")["fits"], serde_json::json!(["libvirt"]));
    assert!(host("master-0")["fits"].as_array().unwrap().contains(&"gce".into()));
    assert!(work.ok(&["media", "limits"]).stdout.contains("needs a pointer"));
}

#[test]
fn before_configs_are_made_limits_say_how_to_make_them() {
    work::with_inputs(INSTALL_CONFIG, INVENTORY)
        .ok(&["media", "limits"])
        .says("no host has a config yet: run `hardway create ignition-configs`");
    made().ok(&["media", "limits"]).does_not_say("no host has a config");
    work::empty().ok(&["media", "limits"]).says("no inventory.yaml here");
}

#[test]
fn a_boot_folder_that_cannot_be_written_leaves_nothing() {
    let work = made();
    work.write("foreign.iso", "#!/bin/sh\n");
    let pxe = ["media", "pxe", "--url", "http://192.0.2.1:8080", "--iso"];
    work.refused(4, &[&pxe[..], &["foreign.iso"]].concat()).says("not an ISO 9660 image");
    assert!(!work.exists("pxe"));
    work.remove("ignition/master-0.ign");
    work.refused(2, &[&pxe[..], &[iso()]].concat()).says("master-0 has no config yet");
    assert!(!work.exists("pxe"));
}

/// Looking draws no key; whoever makes media draws it.
#[test]
fn urls_are_looked_at_without_writing_and_only_below_a_url() {
    let work = work::with_inputs(INSTALL_CONFIG, &with_hardware(INVENTORY, ""));
    let before = Snapshot::of(work.root());
    let urls = ["media", "urls", "--url", "http://192.0.2.1:8080"];
    work.refused(2, &urls).says("error[serve-unprepared]").says("hardway media iso --all");
    for wrong in ["nonsense", "192.0.2.1:8080", "ftp://192.0.2.1", "http://", "http://a b", "http://a?b=c"] {
        work.refused(2, &["media", "urls", "--url", wrong])
            .says("error[usage]")
            .says("is not an http:// or https:// URL");
    }
    before.assert_untouched(&Snapshot::of(work.root()));
    // Those who have a config of their own to embed need nothing else.
    work.write("a.ign", r#"{"ignition":{"version":"3.2.0"}}"#);
    work.ok(&["media", "iso", "--host", "master-0", "--iso", iso(), "--config", "a.ign"]);
    let work = work.may_show_secrets();
    let root = work.root().to_str().unwrap().to_owned();
    let told = work.ok(&["media", "urls", "--url", "http://192.0.2.1:8080/", "--dir", &root]).stdout;
    let line = |host: &str| told.lines().find(|line| line.starts_with(host)).unwrap().to_owned();
    assert!(line("master-0").contains(" http://192.0.2.1:8080/"), "{told}");
    assert!(
        line("worker-0").contains(&format!("`hardway --dir {root} media iso --host worker-0`")),
        "{told}"
    );
}

/// Paths of flags are as seen from where one is; where nothing is typed, files lie in the folder.
#[test]
fn the_advice_to_download_an_image_names_the_folder_that_is_looked_in() {
    let work = made();
    work.edit("release/release-metadata", "\"true\"", "\"false\"");
    let (dir, release) = (work.root().to_str().unwrap(), work.path("release"));
    let args = ["media", "iso", "--all", "--release-dir", release.to_str().unwrap()];
    work.run(&args).expect(4).says("hardway release media --format iso --to media, or");
    let outside = work::empty();
    outside.run(&[&args[..], &["--dir", dir]].concat()).expect(4).says(&format!("--to {dir}/media, or"));
}

/// The real coreos-installer takes our settings for its own, and shows our configs.
#[test]
fn coreos_installer_understands_a_hosts_medium() {
    let Some(peer) = needed("HARDWAY_COREOS_INSTALLER") else { return };
    let work = made();
    let args = ["media", "iso", "--host", "master-0", "--iso", iso(), "--dest-karg-append", "nosmt"];
    work.ok(&args);
    let run = |args: &[&str]| {
        let output = Command::new(peer.join("bin/coreos-installer"))
            .args(args)
            .current_dir(work.root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let config: Value =
        serde_json::from_slice(&run(&["iso", "ignition", "show", "media/master-0.iso"])).unwrap();
    assert_eq!(config, embedded(&work, "media/master-0.iso"));
    run(&["iso", "network", "extract", "-C", "keyfiles", "media/master-0.iso"]);
    assert!(
        work.read("keyfiles/hardway.nmconnection").contains("address1=192.168.126.101/24,192.168.126.1\n")
    );
    // It parses both files when they are given to it, and refuses what it does not know.
    work.write("settings.yaml", file(&config, "/etc/coreos/installer.d/0000-hardway.yaml"));
    work.write("live.ign", config.to_string());
    let customize = [
        "iso",
        "customize",
        "--installer-config",
        "settings.yaml",
        "--live-ignition",
        "live.ign",
        "-o",
        "c.iso",
        iso(),
    ];
    run(&customize);
    assert!(AREA as u64 >= shown(&work, "c.iso")["embedArea"]["used"].as_u64().unwrap());
}

/// The real Ignition writes the live system's files as they were meant, byte for byte.
#[test]
fn ignition_applies_the_live_config() {
    let Some(bin) = needed("HARDWAY_TOOLS_BIN") else { return };
    let work = made();
    work.ok(&["media", "iso", "--host", "master-0", "--iso", iso()]);
    work.write("live.ign", embedded(&work, "media/master-0.iso").to_string());
    // Whom files belong to is looked up in there.
    fs_err::create_dir_all(work.path("root/etc")).unwrap();
    work.write("root/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
    work.write("root/etc/group", "root:x:0:\n");
    for stage in ["fetch", "files"] {
        let (root, cache, state) = (work.path("root"), work.path("cache.json"), work.path("state"));
        let mut ignition = Command::new(bin.join("ignition"));
        ignition.args(["--platform", "file", "--log-to-stdout", "--stage", stage, "--root"]).arg(root);
        ignition.arg("--config-cache").arg(cache).arg("--state-file").arg(state);
        let output = ignition.env("IGNITION_CONFIG_FILE", work.path("live.ign")).output().unwrap();
        assert!(output.status.success(), "{stage}: {}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(work.read("root/etc/coreos/dest.ign"), work.read("ignition/master-0.ign"));
    assert_eq!(work.mode("root/etc/coreos/dest.ign"), 0o600);
    let settings = "copy-network: true\ndest-device: /dev/vda\nignition-file: /etc/coreos/dest.ign\n";
    assert_eq!(work.read("root/etc/coreos/installer.d/0000-hardway.yaml"), settings);
}
