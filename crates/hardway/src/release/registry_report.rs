//! What a registry did wrong, as a person reads it. The code says whose turn it is.

use hardway_release::RegistryError;

use crate::report::{Code, Report};

/// The error with its code and what to do about it.
pub(crate) fn registry_report(error: &RegistryError) -> Report {
    coded(error, error).fix(error.fix())
}

/// An image that is nowhere has the code of the last place asked, mostly the one that everybody names.
fn coded(shown: &RegistryError, error: &RegistryError) -> Report {
    use RegistryError as E;
    match error {
        E::Unauthorized { .. } | E::Denied { .. } | E::TokenServer { .. } => {
            Report::from_error(Code::RegistryRefused, shown)
        }
        E::UnknownCa { .. } | E::Certificate { .. } | E::PlainHttp { .. } => {
            Report::from_error(Code::RegistryUntrusted, shown)
        }
        E::Unreachable { .. }
        | E::Timeout { .. }
        | E::BrokeOff { .. }
        | E::TooManyRequests { .. }
        | E::Server { .. } => Report::from_error(Code::RegistryUnreachable, shown),
        E::NoSuchTag { .. }
        | E::NoSuchRepository { .. }
        | E::NoSuchDigest { .. }
        | E::NoSuchBlob { .. }
        | E::NoSuchPlatform { .. } => Report::from_error(Code::ImageNotFound, shown),
        E::DigestMismatch { .. }
        | E::Truncated { .. }
        | E::TooLarge { .. }
        | E::Malformed { .. }
        | E::Layer { .. } => Report::from_error(Code::ImageDamaged, shown),
        E::Setting(_) | E::Mirror(_) => Report::from_error(Code::Usage, shown),
        E::File(_) => Report::from_error(Code::WorkdirUnusable, shown),
        E::Nowhere { tried, .. } => match tried.last() {
            Some((_, last)) => coded(shown, last),
            None => Report::from_error(Code::ImageNotFound, shown),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_says_whose_turn_it_is() {
        let registry = || "mirror.example.com".to_owned();
        let gone = || RegistryError::Unreachable { registry: registry(), detail: "refused".to_owned() };
        assert_eq!(registry_report(&gone()).code, Code::RegistryUnreachable);
        let nowhere = RegistryError::Nowhere {
            image: Box::new("quay.io/a/b:1".parse().unwrap()),
            tried: vec![
                ("mirror.example.com/a/b".to_owned(), gone()),
                ("quay.io/a/b".to_owned(), RegistryError::UnknownCa { registry: "quay.io".to_owned() }),
            ],
        };
        let report = registry_report(&nowhere);
        assert_eq!(report.code, Code::RegistryUntrusted);
        assert!(report.what.contains("mirror.example.com cannot be reached"), "{}", report.what);
    }
}
