//! Servers of the organisation, asked before the cluster is told about them: a login that cannot work is found here, not by people
//! who are locked out.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hardway_base::{Secret, pem};
use kube::Config;
use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use crate::api_error::sentence;
use crate::kubeconfig::without_retries;

const PATIENCE: Duration = Duration::from_secs(15);

/// Why a server does not do.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is no way to ask it from here.
    #[error("{0}")]
    Unasked(String),
    /// It does not answer, or not over TLS that the given CA vouches for.
    #[error("{server} does not answer: {why}")]
    Silent {
        /// Which.
        server: String,
        /// A sentence.
        why: String,
    },
    /// It answers, and says something else than it should.
    #[error("{server}: {why}")]
    Other {
        /// Which.
        server: String,
        /// A sentence.
        why: String,
    },
}

/// Reads the discovery document of an issuer, over TLS that the given CA vouches for.
///
/// # Errors
/// When there is none, or it is another issuer's.
pub async fn ask_open_id(issuer: &str, ca: Option<&Secret>) -> Result<(), AskError> {
    let silent = |why: String| AskError::Silent { server: issuer.to_owned(), why };
    let other = |why: String| AskError::Other { server: issuer.to_owned(), why };
    let url: http::Uri = issuer.parse().map_err(|error| silent(format!("{error}")))?;
    let path = format!("{}/.well-known/openid-configuration", url.path().trim_end_matches('/'));
    let origin =
        format!("{}://{}", url.scheme_str().unwrap_or("https"), url.authority().map_or("", |a| a.as_str()));
    let mut config = Config::new(origin.parse().map_err(|error| silent(format!("{error}")))?);
    config.connect_timeout = Some(PATIENCE);
    if let Some(ca) = ca {
        let blocks = pem::decode(ca.expose_text()).map_err(|error| silent(error.to_string()))?;
        config.root_cert = Some(blocks.into_iter().map(|block| block.der).collect());
    }
    let client = without_retries(&config).map_err(|error| silent(sentence(&error)))?;
    let request = http::Request::get(path).body(Vec::new()).map_err(|error| silent(error.to_string()))?;
    let text = timeout(PATIENCE, client.request_text(request)).await;
    let text = text.map_err(|_| silent("no answer".to_owned()))?.map_err(|error| silent(sentence(&error)))?;
    let document: Value =
        serde_json::from_str(&text).map_err(|_| other("its discovery document is not JSON".to_owned()))?;
    let found = document["issuer"].as_str().unwrap_or_default();
    if found != issuer {
        return Err(other(format!("its discovery document says that the issuer is {found:?}")));
    }
    for key in ["authorization_endpoint", "token_endpoint"] {
        if !document[key].is_string() {
            return Err(other(format!("its discovery document has no {key}")));
        }
    }
    Ok(())
}

/// Binds and searches for one entry, as the OAuth server will: with `ldapsearch`, over TLS in every case.
///
/// # Errors
/// When the server refuses, or `ldapsearch` is not installed.
pub async fn ask_ldap(
    url: &str,
    bind: Option<(&str, &Secret)>,
    ca: Option<&Path>,
    scratch: &Path,
) -> Result<(), AskError> {
    let silent = |why: String| AskError::Silent { server: url.to_owned(), why };
    let mut parts = url.split('?');
    let (server, base) = split_base(parts.next().unwrap_or_default());
    let attribute = parts.next().filter(|word| !word.is_empty()).unwrap_or("uid");
    let scope = parts.next().filter(|word| !word.is_empty()).unwrap_or("sub");
    let filter = parts.next().filter(|word| !word.is_empty()).unwrap_or("(objectClass=*)");
    let mut command = Command::new("ldapsearch");
    command.args([
        "-x",
        "-LLL",
        "-o",
        "nettimeout=10",
        "-l",
        "10",
        "-z",
        "1",
        "-H",
        server,
        "-b",
        base,
        "-s",
        scope,
    ]);
    if server.starts_with("ldap://") {
        command.arg("-ZZ");
    }
    if let Some((name, password)) = bind {
        // A file, so that nobody sees it among the processes.
        let file = scratch.join("ldap-password");
        hardway_base::files::replace(&file, 0o600, password.expose())
            .map_err(|error| silent(error.to_string()))?;
        command.args(["-D", name, "-y"]).arg(file);
    }
    if let Some(ca) = ca {
        command.env("LDAPTLS_CACERT", ca);
    }
    // Whatever an ldap.conf of this host says: the password is for nobody else.
    command.env("LDAPTLS_REQCERT", "demand");
    // Parts of the URL are no options.
    command.args(["--", filter, attribute]).stdin(Stdio::null()).kill_on_drop(true);
    let ran = match timeout(PATIENCE * 2, command.output()).await {
        Err(_) => return Err(silent("no answer".to_owned())),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            let why = format!(
                "{url} was not queried: ldapsearch is not installed here (package ldap-utils or openldap-clients)"
            );
            return Err(AskError::Unasked(why));
        }
        Ok(ran) => ran.map_err(|error| silent(error.to_string()))?,
    };
    // 4: there are more than the one that was asked for.
    match ran.status.code() {
        Some(0 | 4) if String::from_utf8_lossy(&ran.stdout).contains("dn:") => Ok(()),
        Some(0 | 4) => Err(AskError::Other {
            server: url.to_owned(),
            why: format!("no user is found below {base:?} with the filter {filter}"),
        }),
        _ => {
            let said = String::from_utf8_lossy(&ran.stderr);
            let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            Err(silent(lines.join("; ")))
        }
    }
}

fn split_base(address: &str) -> (&str, &str) {
    let after = address.find("://").map_or(0, |i| i + 3);
    match address[after..].find('/') {
        Some(slash) => (&address[..after + slash], &address[after + slash + 1..]),
        None => (address, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_server_and_base() {
        assert_eq!(
            split_base("ldaps://l.example.com:636/ou=p,dc=e"),
            ("ldaps://l.example.com:636", "ou=p,dc=e")
        );
        assert_eq!(split_base("ldap://l.example.com"), ("ldap://l.example.com", ""));
    }
}
