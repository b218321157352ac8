//! Why a controller did not do what it was asked.

use std::io;
use std::path::PathBuf;

use hardway_base::redaction::HIDDEN;
use serde_json::Value;

/// What went wrong, with what the controller said. Never with a password.
#[derive(Debug, thiserror::Error)]
pub enum RedfishError {
    /// No connection.
    #[error("{address} cannot be reached")]
    Unreachable {
        /// The controller.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// No answer in time.
    #[error("no answer from {address} within {seconds} s")]
    Silent {
        /// The controller.
        address: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// What came is no HTTP, or ended too early.
    #[error("{address} does not speak HTTP")]
    NotHttp {
        /// The controller.
        address: String,
        /// What the library says.
        source: io::Error,
    },
    /// The login is wrong.
    #[error("{address} rejects the login of user {user:?} (401)")]
    Login {
        /// The controller.
        address: String,
        /// Who tried.
        user: String,
    },
    /// Anything else that is not a success.
    #[error("{method} {path} was answered with {status}{}", said(message))]
    Refused {
        /// What was asked.
        method: String,
        /// Of which resource.
        path: String,
        /// The answer.
        status: u16,
        /// What the controller said to it.
        message: String,
    },
    /// An answer that is not what Redfish says it should be.
    #[error("{path}: {what}")]
    Unexpected {
        /// Which resource.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// It said yes, and nothing happened.
    #[error("the controller accepted the request, but after {seconds} s {what}")]
    NotDone {
        /// How long it was waited for.
        seconds: u64,
        /// What is still not so.
        what: String,
    },
    /// A file with certificates.
    #[error("{} cannot be used as the CA of a controller: {reason}", path.display())]
    Authority {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What this crate asks of the TLS library.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
}

impl RedfishError {
    /// What a person can do.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Unreachable { source, .. } if is_certificate(source) => {
                "put the controller's CA, or its own certificate, into caFile; or accept any certificate with insecure: true"
            }
            Self::Unreachable { .. } | Self::Silent { .. } => {
                "check that the controller can be reached from here: address, port, VLAN, firewall; if it hangs, restart it \
                 from its web page"
            }
            Self::NotHttp { .. } => {
                "check that the port is that of its web page, and whether it needs redfish+https or redfish+http"
            }
            Self::Login { .. } => {
                "check user and the file in passwordFile; some controllers lock a user for minutes after wrong passwords, and \
                 some only accept auth: session"
            }
            Self::Refused { status: 403, .. } => {
                "give the user the role Operator or Administrator; a missing licence, or a user that is locked after wrong \
                 passwords, leads to the same error"
            }
            Self::Refused { status: 404 | 405 | 501, .. } | Self::Unexpected { .. } => {
                "the controller may lack this part of Redfish (virtual media often needs a licence): boot this machine by hand, or over the network"
            }
            Self::Refused { .. } => "see the controller's answer above; its own log has more",
            Self::NotDone { .. } => {
                "check the controller's web page: it may be busy, or unable to reach the image (many only accept http, and \
                 only ports 80 and 443)"
            }
            Self::Authority { .. } => "write certificates in PEM into the file",
            Self::Tls(_) => "this is a bug in hardway; please report it",
        }
    }
}

fn is_certificate(error: &io::Error) -> bool {
    let source = error.get_ref().and_then(|source| source.downcast_ref::<rustls::Error>());
    matches!(source, Some(rustls::Error::InvalidCertificate(_)))
}

/// The sentences in an answer that is an error (DMTF DSP0266, error responses). A controller may quote what it was sent:
/// `secrets` are taken out, before anything is cut that would leave half of one.
pub(super) fn message(body: &[u8], secrets: &[&str]) -> String {
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return String::new() };
    let error = &value["error"];
    let mut told: Vec<&str> = error["@Message.ExtendedInfo"]
        .as_array()
        .map(|list| list.iter().filter_map(|info| info["Message"].as_str()).collect())
        .unwrap_or_default();
    if told.is_empty() {
        told.extend(error["message"].as_str());
    }
    told.dedup();
    // It may say anything; a line is enough.
    let line: String = told.join(" ").chars().filter(|c| !c.is_control()).collect();
    without(line, secrets).chars().take(600).collect()
}

/// Longer ones first: a shorter one may be part of them.
fn without(text: String, secrets: &[&str]) -> String {
    let mut secrets: Vec<&str> = secrets.iter().copied().filter(|secret| !secret.is_empty()).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.into_iter().fold(text, |text, secret| text.replace(secret, HIDDEN))
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_controller_says_is_found() {
        let body = br#"{"error":{"message":"See below","@Message.ExtendedInfo":[{"Message":"Not licensed."},{"Message":"Call us.\n"}]}}"#;
        assert_eq!(message(body, &[]), "Not licensed. Call us.");
        assert_eq!(message(br#"{"error":{"message":"No."}}"#, &[]), "No.");
        assert_eq!(message(b"<html>", &[]), "");
    }

    #[test]
    fn no_part_of_a_secret_is_quoted() {
        let said = |text: String| serde_json::json!({"error": {"message": text}}).to_string();
        let across = said(format!("{}calvin-and-hobbes", "x".repeat(595)));
        let told = message(across.as_bytes(), &["calvin-and-hobbes"]);
        assert_eq!(told, format!("{}<reda", "x".repeat(595)));
        // The shorter one is the beginning of the longer.
        let both = said("t0ken-of-session and t0ken".to_owned());
        let told = message(both.as_bytes(), &["", "t0ken", "t0ken-of-session"]);
        assert_eq!(told, "<redacted> and <redacted>");
    }
}
