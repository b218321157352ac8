//! How registries are reached: credentials, trust, proxy, plain HTTP, patience.

use std::fmt;
use std::time::Duration;

use hardway_base::redaction::{without_password, without_passwords};
use oci_client::client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol};

use super::RegistryError;
use super::retry::Retry;
use crate::credentials::Credentials;

/// The settings for all registries of one run.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Who to be.
    pub credentials: Credentials,
    /// PEM certificates trusted beside those of the system: `additionalTrustBundle`.
    pub trust_bundle: String,
    /// Which other certificates are trusted.
    pub roots: Roots,
    /// Whether any certificate will do, as `insecure` of registries.conf says.
    pub is_unverified: bool,
    /// How to get out.
    pub proxy: Proxy,
    /// Registries (`host:port`) that are asked without TLS. Nobody else is.
    pub plain_http: Vec<String>,
    /// For a connection, and for each silence while an answer comes.
    pub timeout: Duration,
    /// When to give up.
    pub retry: Retry,
    /// Downloads at a time from one registry; oc uses the same number.
    pub parallel: usize,
}

/// Certificates that are trusted without being named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Those of this host.
    #[default]
    OfHost,
    /// Those of Mozilla's list, as an operating system has them to which nobody added any.
    Mozilla,
}

/// The way to registries.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// As `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` say.
    #[default]
    Environment,
    /// None, whatever the environment says.
    Direct,
    /// As an install-config says.
    Through {
        /// For `http:` URLs, or empty.
        http: String,
        /// For `https:` URLs, or empty.
        https: String,
        /// Hosts, domains and networks that are reached directly, with commas between them.
        no_proxy: String,
    },
}

impl fmt::Debug for Proxy {
    /// Without the passwords that may stand in the addresses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => f.write_str("Environment"),
            Self::Direct => f.write_str("Direct"),
            Self::Through { http, https, no_proxy } => f
                .debug_struct("Through")
                .field("http", &without_password(http))
                .field("https", &without_password(https))
                .field("no_proxy", no_proxy)
                .finish(),
        }
    }
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            credentials: Credentials::default(),
            trust_bundle: String::new(),
            roots: Roots::default(),
            is_unverified: false,
            proxy: Proxy::default(),
            plain_http: Vec::new(),
            timeout: Duration::from_secs(30),
            retry: Retry::default(),
            parallel: 4,
        }
    }
}

const USER_AGENT: &str = concat!("hardway/", env!("CARGO_PKG_VERSION"));
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

impl Connection {
    /// `http` or `https`.
    pub(crate) fn scheme(&self, registry: &str) -> &'static str {
        if self.plain_http.iter().any(|plain| plain == registry) { "http" } else { "https" }
    }

    /// The settings as the registry client takes them.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, RegistryError> {
        let mut config = ClientConfig {
            protocol: ClientProtocol::HttpsExcept(self.plain_http.clone()),
            extra_root_certificates: self
                .certificates()?
                .into_iter()
                .map(|pem| Certificate { encoding: CertificateEncoding::Pem, data: pem.into_bytes() })
                .collect(),
            // A single request with a length: resuming an upload is done by asking what is there already.
            use_monolithic_push: true,
            // Platforms are chosen by `image_manifest::choose`, with an error that lists what there is.
            platform_resolver: None,
            read_timeout: Some(self.timeout),
            connect_timeout: Some(self.timeout),
            user_agent: USER_AGENT,
            ..ClientConfig::default()
        };
        let some = |url: &str| (!url.is_empty()).then(|| url.to_owned());
        match &self.proxy {
            Proxy::Environment => {}
            // The client has no switch for it, but a proxy that is used for nothing also hides the environment's.
            Proxy::Direct => {
                config.http_proxy = some("http://127.0.0.1:9");
                config.no_proxy = some("*,0.0.0.0/0,::/0");
            }
            Proxy::Through { http, https, no_proxy } => {
                config.http_proxy = some(http);
                config.https_proxy = some(https);
                config.no_proxy = some(no_proxy);
            }
        }
        Ok(config)
    }

    /// A client for reading: registries, signature stores, boot images.
    pub(crate) fn http_client(&self) -> Result<reqwest::Client, RegistryError> {
        self.http_client_that(reqwest::redirect::Policy::default())
    }

    /// The same for what must reach nobody but the one it is sent to.
    pub(crate) fn http_client_without_redirects(&self) -> Result<reqwest::Client, RegistryError> {
        self.http_client_that(reqwest::redirect::Policy::none())
    }

    fn http_client_that(
        &self,
        redirects: reqwest::redirect::Policy,
    ) -> Result<reqwest::Client, RegistryError> {
        let setting = |error: reqwest::Error| RegistryError::Setting(without_passwords(&error.to_string()));
        let mut builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirects)
            .read_timeout(self.timeout)
            .connect_timeout(self.timeout);
        let certificates: Result<Vec<_>, _> =
            self.certificates()?.iter().map(|pem| reqwest::Certificate::from_pem(pem.as_bytes())).collect();
        let certificates = certificates.map_err(setting)?;
        builder = match self.roots {
            Roots::OfHost => builder.tls_certs_merge(certificates),
            Roots::Mozilla => {
                let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
                let roots: Result<Vec<_>, _> =
                    roots.map(|certificate| reqwest::Certificate::from_der(certificate)).collect();
                builder.tls_certs_only(roots.map_err(setting)?.into_iter().chain(certificates))
            }
        };
        if self.is_unverified {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        builder = match &self.proxy {
            Proxy::Environment => builder,
            Proxy::Direct => builder.no_proxy(),
            Proxy::Through { http, https, no_proxy } => {
                let direct = reqwest::NoProxy::from_string(no_proxy);
                if !http.is_empty() {
                    builder =
                        builder.proxy(reqwest::Proxy::http(http).map_err(setting)?.no_proxy(direct.clone()));
                }
                if !https.is_empty() {
                    builder = builder.proxy(reqwest::Proxy::https(https).map_err(setting)?.no_proxy(direct));
                }
                builder
            }
        };
        builder.build().map_err(setting)
    }

    /// The certificates of the bundle one by one; text around them is a comment.
    fn certificates(&self) -> Result<Vec<String>, RegistryError> {
        let mut found = Vec::new();
        for part in self.trust_bundle.split(BEGIN).skip(1) {
            let (body, _) = part.split_once(END).ok_or_else(|| {
                RegistryError::Setting("the trust bundle is truncated within a certificate".to_owned())
            })?;
            found.push(format!("{BEGIN}{body}{END}\n"));
        }
        if found.is_empty() && !self.trust_bundle.trim().is_empty() {
            return Err(RegistryError::Setting("the trust bundle holds no PEM certificate".to_owned()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificates(bundle: &str) -> Result<Vec<String>, RegistryError> {
        Connection { trust_bundle: bundle.to_owned(), ..Connection::default() }.certificates()
    }

    #[test]
    fn a_bundle_is_taken_apart() {
        let one = format!("{BEGIN}\nMIIB\n{END}\n");
        let both = certificates(&format!("# our CA\n{one}\n# and theirs\n{one}"));
        assert_eq!(both.unwrap(), [one.clone(), one.clone()]);
        assert!(certificates(" \n").unwrap().is_empty());
        assert!(certificates("hello").unwrap_err().to_string().contains("no PEM certificate"));
        assert!(certificates(&one[..40]).unwrap_err().to_string().contains("is truncated within"));
    }

    #[test]
    fn the_password_of_a_proxy_is_not_shown() {
        let proxy = |http: &str| Proxy::Through {
            http: http.to_owned(),
            https: "http://me:hush@p:2".to_owned(),
            no_proxy: ".lab".to_owned(),
        };
        let connection = Connection { proxy: proxy("me:hush@p:1"), ..Connection::default() };
        let shown = format!("{connection:?}");
        assert!(shown.contains("me:<redacted>@p:1") && shown.contains(".lab"), "{shown}");
        assert!(!shown.contains("hush"), "{shown}");
        let connection = Connection { proxy: proxy("http://me:hush@[p"), ..Connection::default() };
        let refused = connection.http_client().unwrap_err().to_string();
        assert!(!refused.contains("hush"), "{refused}");
    }

    #[test]
    fn plain_http_is_for_those_named() {
        let connection = Connection { plain_http: vec!["lab:5000".to_owned()], ..Connection::default() };
        assert_eq!(["lab:5000", "lab:5001", "lab"].map(|r| connection.scheme(r)), ["http", "https", "https"]);
    }
}
