//! The answers of the machine-config-server, row by row (openshift/machine-config-operator `pkg/server/api.go`).

use serde_json::Value;

use super::site::Site;
use hardway_machines::ignition_server::Limits;

const ACCEPT: &str = "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1";

#[tokio::test(flavor = "multi_thread")]
async fn every_row() {
    let site = Site::with(Limits::default(), false).await;
    let client = site.client();
    let accept = [("Accept", ACCEPT)];

    let got = client.ask("GET", "/config/master", &accept).await;
    assert_eq!((got.status, got.header("content-type")), (200, Some("application/json")), "{}", got.head);
    assert_eq!(got.header("content-length"), Some(got.body.len().to_string().as_str()));
    let config: Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(config["ignition"]["version"], "3.4.0");

    let head = client.ask("HEAD", "/config/master", &accept).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    for name in ["content-type", "content-length"] {
        assert_eq!(head.header(name), got.header(name), "{name}");
    }
    assert_eq!(client.ask("GET", "/config/x/master?pool=worker", &accept).await.body, got.body);

    for (method, path, version, status) in [
        ("POST", "/config/master", "3.4.0", 405),
        ("DELETE", "/config/master", "3.4.0", 405),
        ("GET", "/config/master", "3.0.0", 400),
        ("GET", "/config/master", "4.0.0", 400),
        ("GET", "/config/master", "1.0.0", 400),
        ("GET", "/config/infra", "3.4.0", 500),
        ("GET", "/healthz", "3.4.0", 200),
        ("HEAD", "/healthz", "3.4.0", 200),
        ("POST", "/healthz", "3.4.0", 405),
        ("GET", "/", "3.4.0", 404),
        ("GET", "/config", "3.4.0", 404),
        ("PUT", "/anything", "3.4.0", 405),
    ] {
        let accept = format!("application/vnd.coreos.ignition+json;version={version}");
        let reply = client.ask(method, path, &[("Accept", &accept)]).await;
        assert_eq!(reply.status, status, "{method} {path} {version}");
        assert_eq!(reply.header("content-length"), Some("0"), "{method} {path}: {}", reply.head);
        assert!(reply.body.is_empty());
    }
    for (asked, served) in [("3.6.0", "3.4.0"), ("3.3.0", "3.3.0"), ("3.2.0", "3.2.0"), ("3.1.0", "3.1.0")] {
        let accept = format!("application/vnd.coreos.ignition+json;version={asked}, */*;q=0.1");
        let reply = client.ask("GET", "/config/worker", &[("Accept", &accept)]).await;
        let config: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(config["ignition"]["version"], served, "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_gzip_gets_the_same_config() {
    use std::io::Read as _;
    let site = Site::start().await;
    let plain = site.client().ask("GET", "/config/master", &[("Accept", ACCEPT)]).await;
    let packed =
        site.client().ask("GET", "/config/master", &[("Accept", ACCEPT), ("Accept-Encoding", "gzip")]).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_readiness_and_numbers() {
    let site = Site::start().await;
    let client = site.client();
    client.ask("GET", "/config/master", &[("Accept", ACCEPT)]).await;
    client.ask("GET", "/ignition/master-0", &[]).await;
    assert_eq!(client.ask("GET", "/readyz", &[]).await.status, 200);
    let page = client.ask("GET", "/metrics", &[]).await;
    let text = String::from_utf8(page.body).unwrap();
    for line in [
        "hardway_ignition_requests_total{face=\"pool\",code=\"200\"} 1",
        "hardway_ignition_requests_total{face=\"host\",code=\"401\"} 1",
        "hardway_ignition_ready 1",
        "hardway_ignition_token_secrets 1",
    ] {
        assert!(text.lines().any(|each| each == line), "{line} is not in\n{text}");
    }
}
