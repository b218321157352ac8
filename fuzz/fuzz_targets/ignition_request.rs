//! Any bytes as the parts of a request that the ignition server reads itself: path, Accept, Authorization and the rest.
//! Lines are the path and the values of the headers, in the order of `NAMES`.
#![no_main]

use std::net::Ipv4Addr;

use hardway_machines::ignition_server::accept::wanted;
use hardway_machines::ignition_server::faces::{HostFace, HostTable, Pool, PoolFace};
use hardway_machines::ignition_server::{Asked, Decision, Route, route};
use hardway_assets::ignition::TokenKey;
use hardway_base::Secret;
use http::{HeaderMap, HeaderValue, Method};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 5] = ["accept", "authorization", "hardway-generation", "accept-encoding", "user-agent"];

fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let path = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut headers = HeaderMap::new();
    for (name, line) in NAMES.into_iter().zip(lines) {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.insert(name, value);
        }
    }
    let asked = Asked { method: &Method::GET, path: &path, headers: &headers, source: Ipv4Addr::LOCALHOST.into() };
    let _ = (asked.takes_gzip(), asked.user_agent(), asked.bearer_from_base64(), asked.generation());
    wanted(asked.text("accept").unwrap_or_default());
    match route(&path) {
        Route::Redirect(to) => assert!(!matches!(route(&to), Route::Redirect(_)), "{path} → {to}"),
        Route::Host(host) => {
            let key = TokenKey::new(&Secret::new("a key that no input knows"));
            let face = HostFace::new(key, jiff::SignedDuration::from_hours(1), false, HostTable::new());
            let decision = face.decide(&asked, host, jiff::Timestamp::UNIX_EPOCH);
            assert!(matches!(decision, Decision::Refuse { answer, .. } if answer.status == 401));
        }
        Route::Pool(pool) => {
            let config = serde_json::json!({"ignition": {"version": "3.4.0"}});
            let face = PoolFace::new([("master".to_owned(), Pool::new(&config, 4))].into());
            if let Decision::Serve { .. } = face.decide(&asked, pool) {
                assert_eq!(pool, "master");
            }
        }
        _ => {}
    }
});
