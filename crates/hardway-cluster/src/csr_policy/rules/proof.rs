//! The PKCS#10 request: readable, signed with its own key, a good key, and nothing in it that kubelets do not write.

use super::Rule;
use crate::csr_policy::case::Case;
use crate::csr_policy::{Finding, Key, Pkcs10Error, ReasonCode, Signature};

pub(super) const RULES: &[Rule] = &[
    Rule { name: "encoding", about: "it is one PKCS#10 request in PEM and nothing else", check: encoding },
    Rule {
        name: "key",
        about: "its key is ECDSA on P-256, P-384 or P-521, or RSA of 2048 to 8192 bits",
        check: key,
    },
    Rule { name: "signature", about: "it is signed with its own key", check: signature },
    Rule { name: "authority", about: "it does not request a CA certificate", check: authority },
    Rule { name: "extensions", about: "it requests no extensions except names", check: extensions },
    Rule {
        name: "attributes",
        about: "it has no attributes except the list of extensions",
        check: attributes,
    },
];

fn encoding(case: &Case<'_>) -> Finding {
    match case.pkcs10 {
        Ok(_) => Finding::fits("it is a PKCS#10 request"),
        Err(Pkcs10Error::TooLarge) => Finding::DoesNotApply,
        Err(Pkcs10Error::Pem(why)) => {
            Finding::objects(ReasonCode::PemMalformed, format!("it cannot be read: {why}"))
        }
        Err(Pkcs10Error::Malformed(why)) => {
            Finding::objects(ReasonCode::Pkcs10Malformed, format!("it cannot be read: {why}"))
        }
    }
}

fn key(case: &Case<'_>) -> Finding {
    let Ok(read) = case.pkcs10 else { return Finding::DoesNotApply };
    let shown = format!("its key is {}", read.key);
    match read.key {
        Key::Rsa(..2048) => Finding::objects(ReasonCode::KeyTooWeak, shown),
        Key::Ecdsa(_) | Key::Rsa(2048..=8192) => Finding::fits(shown),
        Key::Rsa(_) | Key::Other(_) => Finding::objects(ReasonCode::KeyNotAllowed, shown),
    }
}

fn signature(case: &Case<'_>) -> Finding {
    let Ok(read) = case.pkcs10 else { return Finding::DoesNotApply };
    match &read.signature {
        Signature::Good => Finding::fits("it is signed with its own key"),
        Signature::Bad => {
            Finding::objects(ReasonCode::CsrSignatureInvalid, "it is not signed with the key in it")
        }
        Signature::Unknown(oid) => {
            let what =
                format!("its signature algorithm ({oid}) does not match its key, or is not used by kubelets");
            Finding::objects(ReasonCode::KeyNotAllowed, what)
        }
    }
}

fn authority(case: &Case<'_>) -> Finding {
    match case.pkcs10 {
        Ok(read) if read.asks_for_ca => {
            Finding::objects(ReasonCode::AsksForCa, "it requests a CA certificate")
        }
        Ok(_) => Finding::fits("it does not request a CA certificate"),
        Err(_) => Finding::DoesNotApply,
    }
}

fn extensions(case: &Case<'_>) -> Finding {
    match case.pkcs10 {
        Ok(read) if !read.extensions.is_empty() => {
            let what = format!("it requests extensions: {}", read.extensions.join(", "));
            Finding::objects(ReasonCode::ExtensionNotAllowed, what)
        }
        Ok(_) => Finding::fits("it requests no extensions except names"),
        Err(_) => Finding::DoesNotApply,
    }
}

fn attributes(case: &Case<'_>) -> Finding {
    match case.pkcs10 {
        Ok(read) if !read.attributes.is_empty() => {
            let what = format!("it has attributes: {}", read.attributes.join(", "));
            Finding::objects(ReasonCode::AttributeNotAllowed, what)
        }
        Ok(_) => Finding::fits("it has no unexpected attributes"),
        Err(_) => Finding::DoesNotApply,
    }
}
