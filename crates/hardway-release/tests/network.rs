//! The way to a registry: proxies, redirects, servers that are busy, broken or silent.

use std::future::Future;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hardway_base::Secret;
use hardway_release::{Credentials, FetchOptions, Proxy, PullSpec, RegistryError, Retry, Sleeper};

use crate::fixture::fetching::get;
use crate::fixture::front::{Front, answer};
use crate::fixture::image::{Family, Image};
use crate::fixture::options;
use crate::fixture::registry::{Registry, Setup};
use crate::fixture::release::ReleaseImage;
use crate::fixture::token_server::TokenServer;

fn world() -> (Registry, Image, tempfile::TempDir) {
    let registry = Registry::open();
    let image = ReleaseImage::default().build();
    registry.pusher("ocp/release").image(&image, Some("a"));
    (registry, image, tempfile::tempdir().unwrap())
}

/// Through a front, and the options for it.
fn through(front: &Front, registry: &Registry, cache: &tempfile::TempDir) -> (PullSpec, FetchOptions) {
    let image: PullSpec = format!("127.0.0.1:{}/ocp/release:a", front.port).parse().unwrap();
    let mut options = options(cache.path(), registry);
    options.connection.plain_http.push(image.registry());
    (image, options)
}

/// Writes down how long it would have waited.
#[derive(Default)]
struct Waits(Mutex<Vec<u64>>);

struct Recorder(Arc<Waits>);

impl Sleeper for Recorder {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.0.lock().unwrap().push(duration.as_secs());
        Box::pin(std::future::ready(()))
    }
}

/// The first `times` requests for manifests are answered so.
fn at_first(times: u32, status: &'static str) -> impl Fn(&str) -> Option<String> + Send + Sync {
    let left = AtomicU32::new(times);
    move |head| {
        let is_counted = head.contains("/manifests/")
            && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if is_counted { answer(status, "", "busy") } else { None }
    }
}

#[test]
fn a_busy_registry_is_asked_again_and_not_for_ever() {
    let (registry, image, cache) = world();
    for (status, times, waits, is_ok) in [
        ("503 Service Unavailable", 2, vec![1, 2], true),
        ("429 Too Many Requests", 2, vec![2, 4], true),
        ("500 Internal Server Error", 9, vec![1, 2, 4, 8], false),
        ("400 Bad Request", 9, vec![], false),
    ] {
        let front = Front::before(registry.port, at_first(times, status));
        let (spec, mut options) = through(&front, &registry, &cache);
        let recorder = Arc::new(Waits::default());
        options.connection.retry =
            Retry { attempts: 5, sleeper: Arc::new(Recorder(Arc::clone(&recorder))), tell: None };
        let result = get(&spec, &options);
        assert_eq!(*recorder.0.lock().unwrap(), waits, "{status}");
        match result {
            Ok(release) if is_ok => assert_eq!(release.digest, image.digest()),
            Err(RegistryError::Server { status: code, detail, .. }) if !is_ok => {
                assert_eq!((status.starts_with(&code.to_string()), detail.as_str()), (true, "busy"));
            }
            other => panic!("{status}: {other:?}"),
        }
    }
}

#[test]
fn a_registry_that_names_a_pause_is_given_it() {
    let (registry, image, cache) = world();
    for status in ["429 Too Many Requests", "503 Service Unavailable"] {
        // A registry that has had enough answers everything so, for a while.
        let is_busy = Arc::new(AtomicBool::new(true));
        let busy = Arc::clone(&is_busy);
        let rule = move |_: &str| match busy.load(Ordering::SeqCst) {
            true => answer(status, "Retry-After: 7\r\n", "busy"),
            false => None,
        };
        let front = Front::before(registry.port, rule);
        let (spec, mut options) = through(&front, &registry, &cache);
        let sleeper = Arc::new(UntilWaited { waits: Waits::default(), is_busy });
        options.connection.retry =
            Retry { attempts: 5, sleeper: Arc::clone(&sleeper) as Arc<dyn Sleeper>, tell: None };
        assert_eq!(get(&spec, &options).unwrap().digest, image.digest(), "{status}");
        assert_eq!(*sleeper.waits.0.lock().unwrap(), [7], "{status}");
    }
}

/// Makes the registry answer again after the first wait.
struct UntilWaited {
    waits: Waits,
    is_busy: Arc<AtomicBool>,
}

impl Sleeper for UntilWaited {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.waits.0.lock().unwrap().push(duration.as_secs());
        self.is_busy.store(false, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

#[test]
fn a_forbidden_repository_is_told_with_the_user() {
    let (registry, _, cache) = world();
    let body = r#"{"errors":[{"code":"DENIED","message":"requested access to the resource is denied"}]}"#;
    let front = Front::before(registry.port, |head| {
        if head.contains("/manifests/") { answer("403 Forbidden", "", body) } else { None }
    });
    let (spec, mut options) = through(&front, &registry, &cache);
    let config = format!(
        r#"{{"auths": {{"127.0.0.1:{}/ocp": {{"username": "robot", "password": "x"}}}}}}"#,
        front.port
    );
    options.connection.credentials = Credentials::read(&Secret::new(config)).unwrap();
    let error = get(&spec, &options).unwrap_err();
    let port = format!(":{}", front.port);
    assert_eq!(
        error.to_string().replace(&port, ""),
        "127.0.0.1 does not allow user \"robot\" of the pull secret's entry \"127.0.0.1/ocp\" to read ocp/release: \
         403 Forbidden (requested access to the resource is denied)"
    );
    assert_eq!(error.fix(), "request permission to pull ocp/release");
}

#[test]
fn silence_ends_after_the_timeout() {
    let (registry, _, cache) = world();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let image: PullSpec = format!("{}/a/b:1", silent.local_addr().unwrap()).parse().unwrap();
    let mut options = options(cache.path(), &registry);
    options.connection.plain_http.push(image.registry());
    options.connection.timeout = Duration::from_millis(200);
    let error = get(&image, &options).unwrap_err();
    assert!(matches!(error, RegistryError::Timeout { .. }), "{error:?}");
    assert!(error.to_string().contains("did not answer in time"), "{error}");
}

#[test]
fn credentials_do_not_follow_a_redirect_to_another_host() {
    let (open, image, cache) = world();
    let registry = Registry::same_as(&open, Setup { password: Some("user:secret"), ..Setup::default() });
    // Blobs come from elsewhere, as with quay.io: the open registry plays the part of the storage behind it.
    let storage = Front::before(open.port, |_| None);
    let elsewhere = format!("http://localhost:{}", storage.port);
    let front = Front::before(registry.port, move |head| {
        let path = head.split(' ').nth(1)?;
        if path.contains("/blobs/") {
            answer("307 Temporary Redirect", &format!("Location: {elsewhere}{path}\r\n"), "")
        } else {
            None
        }
    });
    let (spec, mut options) = through(&front, &registry, &cache);
    let config = format!(
        r#"{{"auths": {{"127.0.0.1:{}": {{"username": "user", "password": "secret"}}}}}}"#,
        front.port
    );
    options.connection.credentials = Credentials::read(&Secret::new(config)).unwrap();
    assert_eq!(get(&spec, &options).unwrap().digest, image.digest());
    let told = |heads: Vec<String>| {
        heads.iter().filter(|head| head.to_lowercase().contains("authorization:")).count()
    };
    assert!(told(front.seen()) > 0 && !storage.seen().is_empty());
    assert_eq!(told(storage.seen()), 0);
}

#[test]
fn a_proxy_is_used_unless_the_host_is_excepted() {
    let (registry, image, _) = world();
    let proxy = Front::before(registry.port, |_| None);
    let address = format!("http://127.0.0.1:{}", proxy.port);
    // No such host: only the proxy finds it.
    let spec: PullSpec = "registry.invalid:5000/ocp/release:a".parse().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut options = options(cache.path(), &registry);
    options.connection.plain_http.push(spec.registry());
    options.connection.proxy =
        Proxy::Through { http: address, https: String::new(), no_proxy: "127.0.0.1,.example.com".to_owned() };
    assert_eq!(get(&spec, &options).unwrap().digest, image.digest());
    assert!(proxy.seen()[0].starts_with("GET http://registry.invalid:5000/v2/"), "{:?}", proxy.seen()[0]);
    let before = proxy.seen().len();
    assert_eq!(get(&registry.image("ocp/release:a"), &options).unwrap().digest, image.digest());
    assert_eq!(proxy.seen().len(), before, "excepted");
}

#[test]
fn tls_goes_through_a_proxy_as_a_tunnel() {
    let (open, image, cache) = world();
    let registry = Registry::same_as(&open, Setup { is_tls: true, ..Setup::default() });
    let proxy = Front::before(registry.port, |_| None);
    let mut options = options(cache.path(), &registry);
    options.connection.trust_bundle = registry.ca.clone();
    let https = format!("http://127.0.0.1:{}", proxy.port);
    options.connection.proxy = Proxy::Through { http: String::new(), https, no_proxy: String::new() };
    assert_eq!(get(&registry.image("ocp/release:a"), &options).unwrap().digest, image.digest());
    assert!(
        proxy.seen()[0].starts_with(&format!("CONNECT 127.0.0.1:{}", registry.port)),
        "{:?}",
        proxy.seen()[0]
    );
}

#[test]
fn a_server_without_ranges_sends_all_again() {
    let (registry, _, cache) = world();
    let text: String = (0..5000_u32).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
    let digest = hardway_release::Digest::of(text.as_bytes());
    let plain = Image::new(Family::Oci, "amd64", vec![text.clone().into_bytes()]);
    registry.pusher("ocp/release").image(&plain, Some("a"));
    let (served, path) = (text.clone(), format!("/blobs/{digest}"));
    let front =
        Front::before(
            registry.port,
            move |head| if head.contains(&path) { answer("200 OK", "", &served) } else { None },
        );
    let (spec, options) = through(&front, &registry, &cache);
    let partial = options.cache.path(&digest).with_extension("partial");
    std::fs::create_dir_all(partial.parent().unwrap()).unwrap();
    std::fs::write(&partial, &text[..100]).unwrap();
    // It is no archive, which is told after all its bytes were found to be right.
    let error = get(&spec, &options).unwrap_err();
    assert!(matches!(error, RegistryError::Layer { .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(options.cache.path(&digest)).unwrap(), text);
    assert!(front.seen().iter().any(|head| head.to_lowercase().contains("range: bytes=100-")));
}

/// Both kinds of credentials; the registry says in the middle that it no longer knows the token.
#[test]
fn a_token_that_runs_out_is_renewed() {
    let (open, image, _) = world();
    let tokens = TokenServer::start();
    let registry = Registry::same_as(&open, Setup { token: Some(tokens.config()), ..Setup::default() });
    for auth in [r#"{"username": "user", "password": "secret"}"#, r#"{"identitytoken": "identity"}"#] {
        let left = AtomicU32::new(1);
        let one_less = |left: u32| left.checked_sub(1);
        let front = Front::before(registry.port, move |head| {
            let is_refused = head.contains("/blobs/")
                && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
            if is_refused { answer("401 Unauthorized", "", "expired") } else { None }
        });
        let cache = tempfile::tempdir().unwrap();
        let (spec, mut options) = through(&front, &registry, &cache);
        let config = format!(r#"{{"auths": {{"127.0.0.1:{}": {auth}}}}}"#, front.port);
        options.connection.credentials = Credentials::read(&Secret::new(config)).unwrap();
        tokens.requests.lock().unwrap().clear();
        assert_eq!(get(&spec, &options).unwrap().digest, image.digest());
        assert_eq!(tokens.requests.lock().unwrap().len(), 2, "{auth}");
    }
}

/// A registry, or whoever answers in its place, names somebody else's token server.
#[test]
fn a_login_is_not_sent_to_a_stranger() {
    let (registry, _, cache) = world();
    let stranger = Front::before(registry.port, |_| answer("200 OK", "", r#"{"token": "x"}"#));
    let moved = format!("Location: http://localhost:{}/token\r\n", stranger.port);
    let own = Front::before(registry.port, move |_| answer("307 Temporary Redirect", &moved, ""));
    let realms = [
        (
            format!("http://localhost:{}/token", stranger.port),
            "which is a different host than the login is for",
        ),
        ("https://quay.io@evil.invalid/token".to_owned(), "which is a different host than the login is for"),
        ("file:///etc/passwd".to_owned(), "which is not the URL of a token server"),
        // Its own token server, which sends elsewhere.
        (format!("http://127.0.0.1:{}/token", own.port), "401 Unauthorized"),
    ];
    for auth in [r#"{"username": "user", "password": "secret"}"#, r#"{"identitytoken": "identity"}"#] {
        for (realm, why) in &realms {
            let challenge = format!("WWW-Authenticate: Bearer realm=\"{realm}\",service=\"s\"\r\n");
            let front = Front::before(registry.port, move |_| answer("401 Unauthorized", &challenge, ""));
            let (spec, mut options) = through(&front, &registry, &cache);
            let config = format!(r#"{{"auths": {{"127.0.0.1:{}": {auth}}}}}"#, front.port);
            options.connection.credentials = Credentials::read(&Secret::new(config)).unwrap();
            let error = get(&spec, &options).unwrap_err().to_string();
            assert!(error.contains(why), "{realm}: {error}");
        }
    }
    assert_eq!(stranger.seen(), Vec::<String>::new());
    assert!(!own.seen().is_empty());
}

#[test]
fn answers_have_an_end() {
    let (registry, _, cache) = world();
    let tokens = Front::before(registry.port, |_| answer("200 OK", "", &"x".repeat(1 << 21)));
    let challenge = format!("WWW-Authenticate: Bearer realm=\"http://127.0.0.1:{}/\"\r\n", tokens.port);
    type Rule = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;
    let rules: [(&str, Rule); 3] = [
        ("the answer of the token server", Box::new(move |_| answer("401 Unauthorized", &challenge, ""))),
        (
            "the manifest of",
            Box::new(|head| {
                if head.contains("/manifests/") { answer("200 OK", "", &" ".repeat(5 << 20)) } else { None }
            }),
        ),
        (
            "the answer 400 of",
            Box::new(|head| {
                if head.contains("/manifests/") {
                    answer("400 Bad Request", "", &"x".repeat(2 << 20))
                } else {
                    None
                }
            }),
        ),
    ];
    for (what, rule) in rules {
        let front = Front::before(registry.port, rule);
        let (spec, options) = through(&front, &registry, &cache);
        let error = get(&spec, &options).unwrap_err();
        assert!(
            matches!(&error, RegistryError::TooLarge { what: found, .. } if found.starts_with(what)),
            "{error}"
        );
    }
}

/// Neither one that is longer than its manifest says, nor one whose manifest says that it fills the disk.
#[test]
fn blobs_have_an_end() {
    let (registry, _, cache) = world();
    let plain = Image::new(Family::Oci, "amd64", vec![b"layer".to_vec()]);
    registry.pusher("ocp/release").image(&plain, Some("a"));
    let layer = plain.layer(0);
    let path = format!("/blobs/{layer}");
    let front = Front::before(registry.port, move |head| {
        if head.contains(&path) { answer("200 OK", "", &"x".repeat(1 << 20)) } else { None }
    });
    let (spec, options) = through(&front, &registry, &cache);
    let error = get(&spec, &options).unwrap_err();
    assert!(matches!(&error, RegistryError::TooLarge { .. }), "{error}");
    let folder = options.cache.path(&layer).parent().unwrap().to_owned();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "nothing half-written");
    let blob = format!(
        r#"{{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": "{layer}", "size": 99999999999999}}"#
    );
    let manifest = format!(
        r#"{{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": {blob}, "layers": [{blob}]}}"#
    );
    let front = Front::before(registry.port, move |head| {
        if head.contains("/manifests/") { answer("200 OK", "", &manifest) } else { None }
    });
    let (spec, options) = through(&front, &registry, &cache);
    let error = get(&spec, &options).unwrap_err();
    assert!(matches!(&error, RegistryError::TooLarge { most, .. } if *most == 16 << 30), "{error}");
}
