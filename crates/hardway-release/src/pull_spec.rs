//! Pull specs by digest: the only ones that name the same image tomorrow.

/// True for `registry/name@sha256:<64 hexadecimal digits>`, without a tag before the `@`.
pub(crate) fn is_by_digest(pull_spec: &str) -> bool {
    let Some((repository, digest)) = pull_spec.split_once("@sha256:") else { return false };
    let is_name = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:[]".contains(&b))
    };
    let mut parts = repository.split('/');
    let name = parts.next_back().unwrap_or_default();
    repository.contains('/')
        && parts.all(is_name)
        && is_name(name)
        && !name.contains(':')
        && digest.len() == 64
        && digest.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_half_digests_are_not_enough() {
        let digest = "0123456789abcdef".repeat(4);
        assert!(is_by_digest(&format!("quay.io/openshift-release-dev/ocp-release@sha256:{digest}")));
        assert!(is_by_digest(&format!("mirror.example.com:5000/release@sha256:{digest}")));
        for wrong in [
            "quay.io/a/b:4.18.1-x86_64".to_owned(),
            format!("quay.io/a/b:4.18.1@sha256:{digest}"),
            format!("quay.io/a/b@sha256:{}", &digest[1..]),
            format!("quay.io/a/b@sha256:{}", digest.to_uppercase()),
            format!("quay.io//b@sha256:{digest}"),
            format!("b@sha256:{digest}"),
            format!("@sha256:{digest}"),
            format!("quay.io/a b@sha256:{digest}"),
            String::new(),
        ] {
            assert!(!is_by_digest(&wrong), "{wrong}");
        }
    }
}
