//! Addresses with a login in them: mirrors of boot images and stores of signatures. The login is used and never shown.

use std::future::Future;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hardway_release::media::{MediaFile, download};
use hardway_release::{BlobCache, Connection, Digest, Proxy, Retry, SignatureStore, Silent, Sleeper, verify};

use crate::fixture::blocking;

struct NoWait;

impl Sleeper for NoWait {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::ready(()))
    }
}

/// Answers everything so; its port, and the heads of all requests.
fn server(answer: &'static str) -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heads = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&heads);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or_default();
            kept.lock().unwrap().push_str(&String::from_utf8_lossy(&request[..n]));
            let _ = stream.write_all(format!("HTTP/1.1 {answer}\r\nConnection: close\r\n\r\n").as_bytes());
        }
    });
    (port, heads)
}

/// With everything that is told while it tries again.
fn connection() -> (Connection, Arc<Mutex<String>>) {
    let told = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&told);
    let tell = Arc::new(move |text: &str| kept.lock().unwrap().push_str(text));
    let retry = Retry { attempts: 2, sleeper: Arc::new(NoWait), tell: Some(tell) };
    (Connection { proxy: Proxy::Direct, retry, ..Connection::default() }, told)
}

const ANSWERS: [&str; 5] = [
    "503 Service Unavailable\r\nContent-Length: 0",
    "429 Too Many Requests\r\nContent-Length: 0",
    "403 Forbidden\r\nContent-Length: 0",
    // Breaks off.
    "200 OK\r\nContent-Length: 9",
    // Is not what was expected.
    "200 OK\r\nContent-Length: 0",
];

#[test]
fn a_mirror_s_login_is_not_told() {
    for answer in ANSWERS {
        let (port, heads) = server(answer);
        let (connection, told) = connection();
        let folder = tempfile::tempdir().unwrap();
        let cache = BlobCache::at(folder.path().join("cache"));
        let with_login = |path: &str| format!("http://me:hush@127.0.0.1:{port}/{path}");
        let file = MediaFile {
            part: "disk".to_owned(),
            location: with_login("a/live.iso"),
            sha256: "a".repeat(64),
            uncompressed_sha256: None,
        };
        let mirrors = [with_login("mirror")];
        let error = blocking(download(&file, folder.path(), &mirrors, &connection, &cache, &Silent));
        let error = error.unwrap().unwrap_err();
        let said = format!("{error} {error:?} {}", told.lock().unwrap());
        assert!(said.contains(&format!("http://me:<redacted>@127.0.0.1:{port}/mirror/live.iso")), "{said}");
        assert!(!said.contains("hush"), "{answer}: {said}");
        assert!(heads.lock().unwrap().contains("Basic bWU6aHVzaA=="), "the login is used");
    }
}

#[test]
fn a_signature_store_s_login_is_not_told() {
    for answer in ["404 Not Found\r\nContent-Length: 0"].iter().chain(&ANSWERS) {
        let (port, heads) = server(answer);
        let (connection, told) = connection();
        let folder = tempfile::tempdir().unwrap();
        let keyring = folder.path().join("keys.gpg");
        std::fs::write(&keyring, "no keys").unwrap();
        let store = SignatureStore::Url(format!("http://me:hush@127.0.0.1:{port}/store"));
        let stores = [store];
        let error = blocking(verify(&Digest::of(b"release"), &keyring, &stores, &connection));
        let error = error.unwrap().unwrap_err();
        let said = format!("{error} {error:?} {stores:?} {}", told.lock().unwrap());
        assert!(said.contains(&format!("http://me:<redacted>@127.0.0.1:{port}/store")), "{said}");
        assert!(!said.contains("hush"), "{answer}: {said}");
        assert!(heads.lock().unwrap().contains("Basic bWU6aHVzaA=="), "the login is used");
    }
}
