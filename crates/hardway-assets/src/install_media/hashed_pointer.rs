//! A few lines in place of a config that is too large: where it is, and what its hash must be.

use hardway_base::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};

use crate::ignition::{VERSION, data_url};

/// A config that is replaced by the one at `url`, if that has the hash of `config`. With a hash plain HTTP is safe from
/// changes, but not from being read. `ca` is trusted for https beside the system's.
pub fn hashed_pointer(url: &str, config: &[u8], ca: Option<&[u8]>) -> Vec<u8> {
    let replace = json!({"source": url, "verification": {"hash": hash(config)}});
    let mut ignition = json!({"version": VERSION, "config": {"replace": replace}});
    if let Some(ca) = ca {
        ignition["security"] = json!({"tls": {"certificateAuthorities": [{"source": data_url(ca)}]}});
    }
    json!({"ignition": ignition}).to_string().into_bytes()
}

/// As Ignition and coreos-installer write it: `sha512-<hex>`.
pub fn hash(config: &[u8]) -> String {
    format!("sha512-{}", hex::encode(Sha512::digest(config)))
}

/// The hash that a pointer demands of what it points to, if it demands one.
pub fn hash_in(pointer: &[u8]) -> Option<String> {
    let pointer: Value = serde_json::from_slice(pointer).ok()?;
    let config = &pointer["ignition"]["config"];
    let places = [&config["replace"], &config["merge"][0]];
    places.iter().find_map(|place| place["verification"]["hash"].as_str()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_names_the_place_and_the_hash() {
        let pointer = hashed_pointer("http://192.168.126.1:8080/bootstrap.ign", b"abc", None);
        let text = String::from_utf8(pointer.clone()).unwrap();
        assert!(text.contains("\"source\":\"http://192.168.126.1:8080/bootstrap.ign\""), "{text}");
        // RFC 6234's example.
        assert!(hash(b"abc").starts_with("sha512-ddaf35a193617abacc417349ae204131"));
        assert_eq!(hash_in(&pointer), Some(hash(b"abc")));
        assert_eq!(hash_in(b"{}"), None);
        let trusting = hashed_pointer("https://a/b", b"", Some(b"PEM"));
        assert!(String::from_utf8(trusting).unwrap().contains("certificateAuthorities"));
    }
}
