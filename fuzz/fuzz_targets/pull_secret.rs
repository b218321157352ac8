//! Any text as a pull secret and as a pull spec: the readers come back, a pull spec is written as it was read, and a login that
//! is refused is not told.
//! The first line is the pull spec, the rest the pull secret.
#![no_main]

use hardway_base::Secret;
use hardway_release::{Credentials, Mirrors, PullSpec};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (spec, secret) = text.split_once('\n').unwrap_or((text, ""));
    let _ = PullSpec::repository(spec);
    let read: Result<PullSpec, _> = spec.parse();
    if let Ok(read) = &read {
        let again: PullSpec = read.to_string().parse().expect("what is written can be read");
        assert_eq!(again, *read);
        let _ = Mirrors::default().candidates(read);
    }
    match Credentials::read(&Secret::new(secret)) {
        Ok(credentials) => {
            if let Ok(read) = &read
                && let Some((key, _)) = credentials.find(read)
            {
                assert!(format!("{}/", read.name()).contains(key), "{key} for {read}");
            }
        }
        Err(error) => {
            let said = format!("{error} {error:?}");
            if let Ok(config) = serde_json::from_str::<serde_json::Value>(secret) {
                let entries = config["auths"].as_object().into_iter().flatten();
                for (registry, auth) in
                    entries.filter_map(|(registry, entry)| Some((registry, entry["auth"].as_str()?)))
                {
                    // A short one may be part of any word.
                    assert!(auth.len() < 24 || registry.contains(auth) || !said.contains(auth), "{said}");
                }
            }
        }
    }
});
