//! The answers of HyperShift's ignition-server, row by row (openshift/hypershift `ignition-server/cmd/start.go`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_machines::ignition_server::hosted_tokens::{HostedTokens, TokenSecret};
use serde_json::json;

use super::site::{MADE, OLD_TOKEN, Site, TOKEN, token_secret};

fn bearer(token: &str) -> String {
    format!("Bearer {}", STANDARD.encode(token))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row() {
    let site = Site::start().await;
    let client = site.client();
    for method in ["GET", "HEAD", "POST", "PUT"] {
        let reply = client.ask(method, "/healthz", &[]).await;
        assert_eq!((reply.status, reply.body.len()), (200, 0), "{method}");
    }
    for path in ["/", "/ignition/", "/ignition/x/y", "/other"] {
        let reply = client.ask("GET", path, &[]).await;
        assert_eq!((reply.status, &reply.body[..]), (404, &b"404 page not found\n"[..]), "{path}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
    }
    let good = bearer(TOKEN);
    let lower = good.replacen("Bearer", "bearer", 1);
    let double = good.replacen(' ', "  ", 1);
    let not_base64 = format!("Bearer {TOKEN}");
    let url_safe = "Bearer -_-_";
    let unpadded = "Bearer YWI";
    for value in ["", "Basic YWJj", &lower, &double, &not_base64, url_safe, unpadded] {
        let headers = [("Authorization", value)];
        let reply = client.ask("GET", "/ignition", if value.is_empty() { &[] } else { &headers }).await;
        assert_eq!((reply.status, &reply.body[..]), (401, &b"Unauthorized\n"[..]), "{value}");
    }
    for token in [&bearer("unknown"), "Bearer "] {
        let reply = client.ask("GET", "/ignition", &[("Authorization", token)]).await;
        // A trailing blank is cut from a header's value, so the empty token has no blank before it any more.
        let expected =
            if token == "Bearer " { (401, &b"Unauthorized\n"[..]) } else { (511, &b"Token not found\n"[..]) };
        assert_eq!((reply.status, &reply.body[..]), expected, "{token}");
    }
    for (method, path, token) in [
        ("GET", "/ignition", TOKEN),
        ("POST", "/ignition", TOKEN),
        ("GET", "/ignitionx", TOKEN),
        ("GET", "/ignition?x=y", TOKEN),
        ("GET", "/ignition", OLD_TOKEN),
    ] {
        let headers = [("Authorization", &*bearer(token)), ("Accept-Encoding", "gzip")];
        let reply = client.ask(method, path, &headers).await;
        assert_eq!(reply.status, 200, "{method} {path}");
        assert_eq!(reply.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(reply.body, MADE.config("worker-0"), "verbatim, uncompressed");
    }
    let head = client.ask("HEAD", "/ignition", &[("Authorization", &bearer(TOKEN))]).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    let moved = client.ask("GET", "//ignition", &[]).await;
    assert_eq!((moved.status, moved.header("location")), (301, Some("/ignition")));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_come_and_go_with_their_secret() {
    let site = Site::start().await;
    let status = async |token: &str| {
        site.client().ask("GET", "/ignition", &[("Authorization", &bearer(token))]).await.status
    };
    assert_eq!((status(TOKEN).await, status(OLD_TOKEN).await), (200, 200));

    // Rotated: what was current is the old one, and the old one is gone.
    let mut secret = token_secret("token-demo-a2b27c3f", MADE.config("worker-0"));
    let data = secret.data.as_mut().unwrap();
    data.insert("old_token".to_owned(), data["token"].clone());
    data.insert("token".to_owned(), k8s_openapi::ByteString(b"new".to_vec()));
    site.tokens.put(TokenSecret::read(&secret).unwrap());
    assert_eq!((status(TOKEN).await, status(OLD_TOKEN).await, status("new").await), (200, 511, 200));

    // Expired, by a date and by what is no date; and not yet.
    for (text, expected) in [("2026-11-15T05:59:59Z", 511), ("2026-11-15T06:00:01Z", 200), ("soon", 511)] {
        let expiry = "hypershift.openshift.io/ignition-token-expiration-timestamp";
        secret.metadata.annotations.as_mut().unwrap().insert(expiry.to_owned(), text.to_owned());
        site.tokens.put(TokenSecret::read(&secret).unwrap());
        assert_eq!(status("new").await, expected, "{text}");
    }
    site.tokens.remove("token-demo-a2b27c3f");
    assert_eq!(status("new").await, 511);

    // No payload yet, and one that is no config.
    let secret = |payload: &[u8]| {
        let mut secret = token_secret("token-b-1", b"{}");
        secret.data.as_mut().unwrap().insert("payload".to_owned(), k8s_openapi::ByteString(payload.to_vec()));
        TokenSecret::read(&secret).unwrap()
    };
    site.tokens.put(secret(b""));
    assert_eq!(status(TOKEN).await, 511);
    site.tokens.put(secret(b"nonsense"));
    let reply = site.client().ask("GET", "/ignition", &[("Authorization", &bearer(TOKEN))]).await;
    assert_eq!((reply.status, &reply.body[..]), (500, &b"Invalid ignition payload\n"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_tokens_own_secret_is_marked() {
    let mut site = Site::start().await;
    let ask = async |node_pool: &str, hash: &str| {
        let headers =
            [("Authorization", &*bearer(TOKEN)), ("NodePool", node_pool), ("TargetConfigVersionHash", hash)];
        site.client().ask("GET", "/ignition", &headers).await.status
    };
    assert_eq!(ask("clusters/other", "a2b27c3f").await, 200);
    assert_eq!(ask("clusters/demo", "00000000").await, 200);
    assert_eq!(ask("demo", "a2b27c3f").await, 200);
    assert_eq!(site.reached.recv().await.unwrap(), "token-demo-a2b27c3f");
    assert!(site.reached.try_recv().is_err(), "the others named no Secret of this token");
}

#[test]
fn secrets_of_other_kinds_are_not_read() {
    let mut secret = token_secret("token-demo-a2b27c3f", b"{}");
    secret.metadata.annotations.as_mut().unwrap().remove("hypershift.openshift.io/ignition-config");
    assert!(TokenSecret::read(&secret).is_none());
    let empty = serde_json::from_value(json!({"metadata": {"name": "x", "annotations": {
        "hypershift.openshift.io/ignition-config": ""}}, "data": {"token": ""}}))
    .unwrap();
    let tokens = HostedTokens::default();
    tokens.put(TokenSecret::read(&empty).unwrap());
    assert!(
        tokens.find(b"", "2026-11-15T06:00:00Z".parse().unwrap()).is_none(),
        "an empty token opens nothing"
    );
}
