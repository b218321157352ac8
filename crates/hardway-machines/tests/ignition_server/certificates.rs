//! How the server talks TLS, and how it takes new certificates.

use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use hardway_machines::ignition_server::{Certificates, TlsError};

use super::site::{MADE, Site, write_pair};
use crate::client::Client;

#[tokio::test(flavor = "multi_thread")]
async fn tls_1_2_and_1_3_and_nothing_older() {
    let site = Site::start().await;
    let address = site.address().to_string();
    let works = |version: &'static str| {
        let address = address.clone();
        async move {
            tokio::task::spawn_blocking(move || {
                let output = Command::new("openssl")
                    .args(["s_client", "-connect", &address, version, "-cipher", "ALL:@SECLEVEL=0"])
                    .stdin(Stdio::null())
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                said.contains("BEGIN CERTIFICATE")
            })
            .await
            .unwrap()
        }
    };
    assert!(works("-tls1_3").await && works("-tls1_2").await);
    assert!(!works("-tls1_1").await && !works("-tls1").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_2_is_not_offered() {
    let site = Site::start().await;
    let both = Client::offering(site.address(), MADE.ca(), &["h2", "http/1.1"]);
    let stream = both.connect().await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert!(Client::offering(site.address(), MADE.ca(), &["h2"]).connect().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_taken_without_a_restart() {
    let site = Site::start().await;
    let (certificate, key) = (site.dir.path().join("tls.crt"), site.dir.path().join("tls.key"));
    assert_eq!(site.certificates.refresh().unwrap(), 0);

    // Half of a pair is not used, and what was good stays in use.
    std::fs::write(&certificate, MADE.file("pki/machine-config-server.crt")).unwrap();
    later(&certificate);
    assert!(matches!(site.certificates.refresh(), Err(TlsError::Mismatch { .. })));
    assert_eq!(site.client().ask("GET", "/healthz", &[]).await.status, 200);

    std::fs::write(&key, MADE.secrets.get("machine-config-server.key").unwrap().expose()).unwrap();
    later(&key);
    assert_eq!(site.certificates.refresh().unwrap(), 1);
    assert!(site.client().connect().await.is_err(), "now for another name");

    std::fs::write(&key, "nonsense").unwrap();
    later(&key);
    assert!(matches!(site.certificates.refresh(), Err(TlsError::NotPem { .. })));
    write_pair(&MADE, &site.dir);
    later(&key);
    assert_eq!(site.certificates.refresh().unwrap(), 1);
    assert_eq!(site.client().ask("GET", "/healthz", &[]).await.status, 200);
}

#[test]
fn a_certificate_that_is_not_there_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = write_pair(&MADE, &dir);
    files.certificate = dir.path().join("missing.crt");
    let error = Certificates::load(vec![files]).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("missing.crt"), "{error}");
}

/// File systems tell times apart by milliseconds; tests write faster.
fn later(path: &std::path::Path) {
    static STEP: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    let step = STEP.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000 + step);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}
