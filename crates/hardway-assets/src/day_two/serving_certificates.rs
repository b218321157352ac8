//! Certificates of the organisation for API and routes, refused for what is wrong with them before anybody sees them.

use serde_json::json;

use super::ServingPair;
use super::objects::{Made, Settings};
use crate::pki::{CertificateFacts, inspect};
use crate::secrets::PrivateKey;

pub(super) fn make(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(certificates) = &settings.certificates else { return };
    let cluster = made.inputs.cluster;
    if let Some(pair) = &certificates.api {
        let host = cluster.api_host();
        tls_secret(made, "api", pair, &host, ("openshift-config", "day2-api-certificate"));
        made.object(json!({
            "apiVersion": "config.openshift.io/v1", "kind": "APIServer", "metadata": {"name": "cluster"},
            "spec": {"servingCerts": {"namedCertificates": [
                {"names": [host], "servingCertificate": {"name": "day2-api-certificate"}},
            ]}},
        }));
    }
    if let Some(pair) = &certificates.ingress {
        let host = format!("*.apps.{}", cluster.domain());
        tls_secret(made, "ingress", pair, &host, ("openshift-ingress", "day2-ingress-certificate"));
        made.object(json!({
            "apiVersion": "operator.openshift.io/v1", "kind": "IngressController",
            "metadata": {"namespace": "openshift-ingress-operator", "name": "default"},
            "spec": {"defaultCertificate": {"name": "day2-ingress-certificate"}},
        }));
    }
}

fn tls_secret(
    made: &mut Made<'_, '_>,
    which: &str,
    pair: &ServingPair,
    host: &str,
    (namespace, name): (&str, &str),
) {
    let [certificate_field, key_field] =
        ["certificateFile", "keyFile"].map(|field| format!("day2.certificates.{which}.{field}"));
    let certificate = made.text(&certificate_field, &pair.certificate_file);
    let key = made.text(&key_field, &pair.key_file);
    let (Some(certificate), Some(key)) = (certificate, key) else { return };
    let Ok(chain) = inspect(certificate.expose_text()) else {
        made.wrong(certificate_field, format!("{} holds no certificate in PEM", pair.certificate_file));
        return;
    };
    let Some(leaf) = chain.first() else {
        made.wrong(certificate_field, format!("{} holds no certificate in PEM", pair.certificate_file));
        return;
    };
    for complaint in complaints(made, &chain, leaf, host) {
        made.wrong(&certificate_field, complaint);
    }
    match PrivateKey::from_pem(key.expose_text()) {
        Err(_) => made.wrong(
            key_field,
            format!("{} holds no RSA or P-256 key in PEM without a passphrase", pair.key_file),
        ),
        Ok(private) if private.public_key_info() != leaf.public_key_info => made.wrong(
            key_field,
            format!("{} is not the key of the certificate in {}", pair.key_file, pair.certificate_file),
        ),
        Ok(_) => {}
    }
    let data = [("tls.crt", certificate.expose()), ("tls.key", key.expose())];
    made.secret(namespace, name, "kubernetes.io/tls", &data);
}

/// What clients would stumble over.
fn complaints(
    made: &Made<'_, '_>,
    chain: &[CertificateFacts],
    leaf: &CertificateFacts,
    host: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    let now = made.inputs.now;
    if leaf.is_ca {
        let detail =
            format!("the first certificate, {:?}, is a CA's: the server's own comes first", leaf.common_name);
        return vec![detail];
    }
    if !leaf.sans.iter().any(|san| names(san, host)) {
        let sans = if leaf.sans.is_empty() { "none".to_owned() } else { leaf.sans.join(", ") };
        found.push(format!("it is not for {host}; its names are: {sans}"));
    }
    if !leaf.extended_key_usage.is_empty()
        && !leaf.extended_key_usage.iter().any(|usage| usage == "serverAuth")
    {
        found.push("it is not meant for servers: serverAuth is not among its extended key usages".to_owned());
    }
    for one in chain {
        if one.not_after <= now {
            found.push(format!("{:?} has expired: its last second was {}", one.common_name, one.not_after));
        }
        if one.not_before > now {
            found.push(format!("{:?} is not valid before {}", one.common_name, one.not_before));
        }
    }
    for (below, above) in chain.iter().zip(chain.iter().skip(1)) {
        if below.issuer != above.subject {
            found.push(format!(
                "the chain is broken: {:?} was signed by {:?}, but {:?} comes next",
                below.common_name, below.issuer_common_name, above.common_name
            ));
        } else if !above.is_ca {
            found.push(format!("{:?} is in the chain and is no CA", above.common_name));
        }
    }
    let last = chain.last().unwrap_or(leaf);
    if chain.len() == 1 && last.issuer == last.subject {
        found.push("it has signed itself: nobody trusts it".to_owned());
    }
    found
}

/// Whether a name of a certificate is one for this host. One with a wildcard is only for exactly the same wildcard, or for one label.
fn names(san: &str, host: &str) -> bool {
    let wild = |name: &str| name.strip_prefix("*.").map(str::to_ascii_lowercase);
    let below = host.split_once('.').map(|(_, below)| below.to_ascii_lowercase());
    san.eq_ignore_ascii_case(host) || wild(san).is_some_and(|domain| Some(domain) == below)
}
