//! Signatures made with gpg, checked with gpgv.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use hardway_release::{
    Connection, Digest, Proxy, Retry, SignatureError, SignatureFault, SignatureStore, Verified, verify,
};
use hardway_testing::free_port;

use crate::fixture::signer::{Signer, claim};
use crate::fixture::{NoWait, blocking};

fn check(digest: &Digest, keyring: &Path, stores: &[SignatureStore]) -> Result<Verified, SignatureError> {
    let retry = Retry { attempts: 2, sleeper: Arc::new(NoWait), tell: None };
    let connection = Connection { proxy: Proxy::Direct, retry, ..Connection::default() };
    blocking(verify(digest, keyring, stores, &connection)).unwrap()
}

fn refused(result: Result<Verified, SignatureError>) -> Vec<SignatureFault> {
    match result {
        Err(SignatureError::NoneValid { refused, .. }) => {
            refused.into_iter().map(|(_, fault)| fault).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_signature_of_the_digest_by_a_known_key_counts() {
    let (signer, digest) = (Signer::new(), Digest::of(b"release"));
    let path = signer.sign(&claim(&digest), &digest, 1);
    let keyring = signer.keyring();
    let verified = check(&digest, &keyring, &signer.folder()).unwrap();
    assert_eq!(verified.reference, "quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64");
    assert_eq!(verified.found_in, path.display().to_string());
    let listed = String::from_utf8(signer.gpg(&["--list-keys", "--with-colons"], b"")).unwrap();
    assert!(verified.key.len() == 40 && listed.contains(&verified.key), "{listed}");
    check(&digest, &keyring, &[SignatureStore::File(path)]).unwrap();
}

#[test]
fn signatures_that_do_not_count_say_why_and_a_later_one_may() {
    let (signer, stranger, digest) = (Signer::new(), Signer::new(), Digest::of(b"release"));
    let other = Digest::of(b"another release");
    signer.put(&stranger.gpg(&["--sign"], claim(&digest).as_bytes()), &digest, 1);
    signer.sign(&claim(&other), &digest, 2);
    signer.sign("{}", &digest, 3);
    signer.sign("no json", &digest, 4);
    signer.put(claim(&digest).as_bytes(), &digest, 5);
    signer.put(&vec![0; 60 << 10], &digest, 6);
    let keyring = signer.keyring();
    let faults = refused(check(&digest, &keyring, &signer.folder()));
    assert!(
        matches!(&faults[0], SignatureFault::Untrusted(why) if why.contains("No public key")),
        "{faults:?}"
    );
    assert_eq!(faults[1], SignatureFault::OtherDigest(other.to_string()));
    assert!(
        matches!(&faults[2], SignatureFault::Malformed(why) if why.contains("critical.type")),
        "{faults:?}"
    );
    assert_eq!(faults[3], SignatureFault::Malformed("it is not JSON".to_owned()));
    assert!(matches!(&faults[4], SignatureFault::Untrusted(_)), "{faults:?}");
    assert_eq!(faults[5..], [SignatureFault::TooLarge]);
    signer.sign(&claim(&digest), &digest, 7);
    assert!(check(&digest, &keyring, &signer.folder()).unwrap().found_in.ends_with("signature-7"));
}

#[test]
fn an_altered_signature_does_not_count() {
    let (signer, digest) = (Signer::new(), Digest::of(b"release"));
    let mut bytes =
        signer.gpg(&["--sign", "--compress-algo", "none"], claim(&Digest::of(b"other")).as_bytes());
    let (from, to) = (Digest::of(b"other").to_string(), digest.to_string());
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    signer.put(&bytes, &digest, 1);
    let faults = refused(check(&digest, &signer.keyring(), &signer.folder()));
    assert!(
        matches!(&faults[0], SignatureFault::Untrusted(why) if why.contains("BAD signature")),
        "{faults:?}"
    );
}

#[test]
fn nothing_signed_and_no_keyring_are_told() {
    let (signer, digest) = (Signer::new(), Digest::of(b"release"));
    let error = check(&digest, &signer.keyring(), &signer.folder()).unwrap_err().to_string();
    assert_eq!(error, format!("no signature of {digest} in {}", signer.store.path().display()));
    let error = check(&digest, Path::new("/nonexistent/keys.gpg"), &signer.folder()).unwrap_err();
    assert!(matches!(error, SignatureError::Keyring { .. }), "{error}");
}

#[test]
fn a_store_may_be_a_web_server() {
    let (signer, digest) = (Signer::new(), Digest::of(b"release"));
    signer.sign(&claim(&digest), &digest, 1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let root = signer.store.path().to_owned();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap();
            let line = String::from_utf8_lossy(&request[..n]).into_owned();
            let path = line.split(' ').nth(1).unwrap().trim_start_matches("/store/").to_owned();
            let (status, body) = match std::fs::read(root.join(path)) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(&body);
        }
    });
    let store = SignatureStore::Url(format!("http://127.0.0.1:{port}/store/"));
    let verified = check(&digest, &signer.keyring(), std::slice::from_ref(&store)).unwrap();
    assert!(verified.found_in.starts_with("http://127.0.0.1"));
    let error = check(&Digest::of(b"unsigned"), &signer.keyring(), &[store]).unwrap_err();
    assert!(matches!(error, SignatureError::NoSignature { .. }), "{error}");
}

#[test]
fn what_has_no_end_is_no_signature() {
    let (signer, digest) = (Signer::new(), Digest::of(b"release"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = SignatureStore::Url(format!("http://{}", listener.local_addr().unwrap()));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n");
            // It breaks off in the end, so that one who reads all of it gets another error.
            (0..64).try_for_each(|_| stream.write_all(&[0; 1 << 20])).unwrap_or_default();
        }
    });
    let faults = refused(check(&digest, &signer.keyring(), &[store]));
    assert!(
        !faults.is_empty() && faults.iter().all(|fault| *fault == SignatureFault::TooLarge),
        "{faults:?}"
    );
    let endless = SignatureStore::File("/dev/zero".into());
    assert_eq!(refused(check(&digest, &signer.keyring(), &[endless])), [SignatureFault::TooLarge]);
}

#[test]
fn a_keyring_may_be_armored_as_keys_are_published() {
    let (signer, stranger, digest) = (Signer::new(), Signer::new(), Digest::of(b"release"));
    signer.sign(&claim(&digest), &digest, 1);
    let path = signer.home.path().join("keys.asc");
    let armored = |signer: &Signer| signer.gpg(&["--armor", "--export"], b"");
    std::fs::write(&path, [armored(&stranger), b"# and ours\n".to_vec(), armored(&signer)].concat()).unwrap();
    check(&digest, &path, &signer.folder()).unwrap();
    std::fs::write(&path, armored(&stranger)).unwrap();
    assert_eq!(refused(check(&digest, &path, &signer.folder())).len(), 1);
    std::fs::write(&path, "").unwrap();
    let error = check(&digest, &path, &signer.folder()).unwrap_err().to_string();
    assert!(error.ends_with("keys.asc cannot be used: it is empty"), "{error}");
}

#[test]
fn a_store_that_cannot_be_asked_does_not_hide_another() {
    let (signer, digest) = (Signer::new(), Digest::of(b"release"));
    signer.sign(&claim(&digest), &digest, 1);
    let gone = SignatureStore::Url(format!("http://127.0.0.1:{}/store", free_port()));
    let stores = [&[gone.clone()][..], &signer.folder()].concat();
    check(&digest, &signer.keyring(), &stores).unwrap();
    let error = check(&digest, &signer.keyring(), &[gone]).unwrap_err();
    assert!(matches!(error, SignatureError::Store(_)), "{error}");
}
