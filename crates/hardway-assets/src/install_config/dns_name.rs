//! Names as DNS and Kubernetes allow them (apimachinery `util/validation`, whose sentences users know).

/// Why this is not a DNS-1123 subdomain: several labels with dots between them.
pub(crate) fn subdomain_error(name: &str) -> Option<String> {
    let mut errors = Vec::new();
    if name.len() > 253 {
        errors.push(too_long(253));
    }
    if !name.split('.').all(is_label) {
        errors.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{LABEL}(\\.{LABEL})*')"
        ));
    }
    match errors.len() {
        0 => None,
        1 => errors.pop(),
        _ => Some(format!("[{}]", errors.join(", "))),
    }
}

/// `must be no more than N characters`
pub(crate) fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

/// One label: lower case letters, digits and inner dashes. Its length is not looked at here, as upstream.
pub(crate) fn is_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        for good in ["a", "a.b", "0-9", "my-cluster.example.com"] {
            assert_eq!(subdomain_error(good), None, "{good}");
        }
        for bad in ["", ".", "a.", "-a", "a-", "A", "a_b", "a..b", "é"] {
            assert!(subdomain_error(bad).unwrap().starts_with("a lowercase RFC 1123 subdomain"), "{bad}");
        }
        assert_eq!(
            subdomain_error(&vec!["a"; 200].join(".")).unwrap(),
            "must be no more than 253 characters"
        );
        assert!(
            subdomain_error(&"A".repeat(300))
                .unwrap()
                .starts_with("[must be no more than 253 characters, a l")
        );
    }
}
