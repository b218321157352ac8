//! What single words of a request may be: each of these says why one is not.

use std::net::IpAddr;

use hardway_assets::node_name;
use ipnet::IpNet;

/// How many addresses of pods a node gets, as OVN-Kubernetes divides the network unless told otherwise.
const NODE_PREFIX: (u8, u8) = (23, 64);

/// Why a text is no network.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NetworkError {
    #[error("{what} {net} is not a network: use {}", net.trunc())]
    Address { what: String, net: IpNet },
    #[error("{what} {text:?} is not a CIDR such as 10.132.0.0/14")]
    NotCidr { what: String, text: String },
}

/// A network in CIDR notation, without bits that are a host's.
pub(super) fn network(what: &str, text: &str) -> Result<IpNet, NetworkError> {
    let no_cidr = |_| NetworkError::NotCidr { what: what.to_owned(), text: text.to_owned() };
    let net: IpNet = text.parse().map_err(no_cidr)?;
    match net.trunc() == net {
        true => Ok(net),
        false => Err(NetworkError::Address { what: what.to_owned(), net }),
    }
}

/// Whether nodes can be given parts of it.
pub(super) fn too_small_for_nodes(net: IpNet) -> Option<String> {
    let most = if net.addr().is_ipv4() { NODE_PREFIX.0 } else { NODE_PREFIX.1 };
    (net.prefix_len() > most)
        .then(|| format!("cluster network {net} is too small: every node needs a /{most}"))
}

/// The name of a domain: labels with dots between.
pub(super) fn domain_error(what: &str, text: &str) -> Option<String> {
    let is_name = node_name::is_node_name(text) && text.parse::<IpAddr>().is_err();
    (!is_name).then(|| {
        format!(
            "{text:?} is not valid for {what}: use labels of lower-case letters, digits and dashes, separated by dots"
        )
    })
}

/// A pull spec of one image: registry, repository, and a tag or digest.
pub(super) fn pull_spec_error(text: &str) -> Option<String> {
    let wrong = |why: &str| Some(format!("{text:?} is not a release image: {why}"));
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (text, None),
    };
    let Some((registry, path)) = rest.split_once('/') else {
        return wrong(
            "expected a registry and a repository, such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64",
        );
    };
    let (repository, tag) = match path.split_once(':') {
        Some((repository, tag)) => (repository, Some(tag)),
        None => (path, None),
    };
    let is_part = |part: &str| {
        let is_edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        is_edge(part.bytes().next())
            && is_edge(part.bytes().last())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
    };
    let host = registry.rsplit_once(':').map_or(registry, |(host, _)| host);
    let is_port =
        registry.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
    let is_host = host == "localhost" || host.contains('.') || host.starts_with('[') || registry != host;
    if host.is_empty() || !is_host || !is_port || registry.contains(char::is_whitespace) {
        return wrong("it does not begin with a registry");
    }
    if !repository.split('/').all(is_part) {
        return wrong(
            "its repository may only have lower-case letters, digits, dots, dashes and underscores",
        );
    }
    let is_tag = |tag: &str| {
        (1..=128).contains(&tag.len())
            && !tag.starts_with(['.', '-'])
            && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    let is_digest = |digest: &str| {
        digest
            .strip_prefix("sha256:")
            .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    match (tag, digest) {
        (None, None) => wrong("the tag or digest is missing"),
        (Some(tag), _) if !is_tag(tag) => wrong("its tag is invalid"),
        (_, Some(digest)) if !is_digest(digest) => {
            wrong("its digest is not sha256: and 64 hexadecimal digits")
        }
        _ => None,
    }
}

/// A size as Kubernetes writes it (kubernetes `apimachinery/pkg/api/resource/quantity.go`), of something.
pub(super) fn size_error(what: &str, text: &str) -> Option<String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &text[digits.len()..];
    let is_suffix = ["", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].contains(&suffix);
    let is_number = digits.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (!is_suffix || !is_number)
        .then(|| format!("{text:?} is not a valid size of {what}: use a number and a unit, such as 8Gi"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_networks() {
        assert!(network("x", "10.132.0.0/14").is_ok() && network("x", "fd01::/48").is_ok());
        let said = |text: &str| network("x", text).unwrap_err().to_string();
        assert_eq!(said("10.132.0.0"), "x \"10.132.0.0\" is not a CIDR such as 10.132.0.0/14");
        assert_eq!(said("10.133.0.1/14"), "x 10.133.0.1/14 is not a network: use 10.132.0.0/14");
        assert!(too_small_for_nodes("10.0.0.0/24".parse().unwrap()).is_some());
        assert!(too_small_for_nodes("10.0.0.0/23".parse().unwrap()).is_none());
    }

    #[test]
    fn pull_specs_name_one_image() {
        let digest = format!("quay.io/a/b@sha256:{}", "0a".repeat(32));
        for good in
            ["quay.io/x:1", "localhost/a:b", "registry:5000/a/b:4.18.1-x86_64", "[fd00::1]:5000/a:b", &digest]
        {
            assert_eq!(pull_spec_error(good), None, "{good}");
        }
        for bad in [
            "",
            "4.18.1",
            "quay.io",
            "quay.io/x",
            "quay.io/X:1",
            "ocp/release:1",
            "quay.io/x:",
            "quay.io/x@sha256:1",
            "https://quay.io/x:1",
            "quay.io/x y:1",
            "quay.io:0/x:1",
            "quay.io//x:1",
        ] {
            assert!(pull_spec_error(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn sizes_and_domains() {
        for good in ["8Gi", "1.5T", "100"] {
            assert_eq!(size_error("x", good), None, "{good}");
        }
        for bad in ["", "Gi", "8gb", "-1Gi", "0", "8 Gi", "1e3", "nan"] {
            assert!(size_error("x", bad).is_some(), "{bad}");
        }
        assert!(domain_error("x", "example.com").is_none());
        for bad in ["", "a..b", "Example.com", "https://a.b", "10.0.0.1", "-a.b"] {
            assert!(domain_error("x", bad).is_some(), "{bad}");
        }
    }
}
