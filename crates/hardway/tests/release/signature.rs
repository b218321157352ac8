//! Who signed a release.

use hardway_testing::{Ran, Snapshot};

use super::site::Site;
use crate::fixture::signer::{Signer, claim};

#[test]
fn without_a_keyring_it_is_said_that_nothing_is_checked() {
    let site = Site::new();
    let digest = site.world.release.digest();
    let said = format!("warning: not verifying the signature of {digest}: no --keyring is given");
    site.plain(&["info", &site.tag()]).expect(0).says(&said).says("The tag resolved to this digest just now");
    site.plain(&["info", &site.digest()])
        .expect(0)
        .says(&said)
        .says("guarantees the content, not who made it");
    let skip = site.plain(&["info", &site.tag(), "--insecure-skip-signature"]).expect(0);
    skip.says("warning: --insecure-skip-signature: not verifying who made")
        .says("decides what runs on every machine of the cluster");
    site.plain(&["info", &site.tag(), "--signature-store", "x"]).expect(2).says("--keyring");
}

#[test]
fn a_good_signature_is_told_and_a_bad_one_stops_everything() {
    let site = Site::new();
    let (signer, stranger) = (Signer::new(), Signer::new());
    let digest = site.world.release.digest();
    let signature = signer.sign(&claim(&digest), &digest, 1);
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (keyring, store, file) = (text(&signer.keyring()), text(signer.store.path()), text(&signature));
    let from_store = ["--keyring", &keyring, "--signature-store", &store];
    let from_file = ["--keyring", &keyring, "--signature", &file];
    for how in [&from_store, &from_file] {
        let ran = site.plain(&[&["info", &site.tag()][..], how].concat()).expect(0);
        ran.says(&format!("{digest} is signed by key ")).does_not_say("warning");
    }

    let strangers = text(&stranger.keyring());
    let bad = ["--keyring", &strangers, "--signature", &file];
    let tag = site.tag();
    let before = Snapshot::of(site.work.root());
    for verb in [
        &["info", &tag][..],
        &["extract", &tag, "--to", "rel"],
        &["extract", &tag, "--file", "image-references"],
        &["extract", &tag, "--command", "oc"],
        &["mirror", &tag, "--to-dir", "usb"],
        &["media", &tag],
    ] {
        let ran = site.plain(&[verb, &bad].concat()).expect(1);
        assert_eq!(ran.stdout, "", "{verb:?}");
        ran.says("error[signature-invalid]").says("gpgv refuses it").says("do not use this release");
    }
    before.assert_untouched(&Snapshot::of(site.work.root()));

    // A site that always wants signatures can still be told not to.
    let mut command = site.command(&["info", &tag, "--plain-http", "--insecure-skip-signature"]);
    command.env("HARDWAY_KEYRING", &strangers);
    Ran::of(command).expect(0).says("--insecure-skip-signature");
    let empty = text(stranger.store.path());
    let unsigned = ["info", &tag, "--keyring", &keyring, "--signature-store", &empty];
    site.plain(&unsigned).expect(1).says("error[signature-invalid]").says("no signature of");
    site.plain(&["info", &tag, "--keyring", "gone.gpg"])
        .expect(1)
        .says("the keyring gone.gpg cannot be used");
}

#[test]
fn a_carried_folder_is_checked_too() {
    let site = Site::new();
    let (signer, stranger) = (Signer::new(), Signer::new());
    let digest = site.world.release.digest();
    let signature = signer.sign(&claim(&digest), &digest, 1);
    site.plain(&["mirror", &site.tag(), "--to-dir", "usb"]).expect(0);
    let to = format!("{}/mirror/ocp", site.world.registry.address());
    let signature = signature.to_str().unwrap();
    for (keys, code) in [(&stranger, 1), (&signer, 0)] {
        let keyring = keys.keyring();
        let args = ["mirror", "--from-dir", "usb", "--to", &to, "--signature", signature, "--keyring"];
        site.plain(&[&args[..], &[keyring.to_str().unwrap()]].concat()).expect(code);
    }
}
