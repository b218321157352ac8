//! The console at its route, as a browser comes to it: through the routers, and on to the login.

use hardway_base::pem;
use http::header::LOCATION;
use http::uri::InvalidUri;
use http::{Response, StatusCode, Uri};
use kube::Config;
use kube::client::Body;

use super::outcome::{Check, VerifyOutcome};
use super::questions::AskError;
use super::verifier::Verifier;
use crate::kubeconfig::without_retries;
use crate::objects::{ConfigMap, Route};

const FIX: &str = "check that the name resolves, port 443 of the ingress address is open, and the router pods run: oc -n \
 openshift-ingress get pods -o wide";

/// The console sends to the login server, and that to its page; more than a browser would take is a circle.
const MOST: usize = 8;

/// Why a browser would not come to the login.
#[derive(Debug, thiserror::Error)]
enum ConsoleError {
    #[error("{0} redirects endlessly")]
    Circle(String),
    #[error("{0} redirects to {1:?}, which is not a valid URL")]
    SentNowhere(String, String),
    #[error("{0}: {1}")]
    Silent(String, PageError),
    #[error("{from} redirects to {at}: {why}")]
    SilentNext { from: String, at: String, why: PageError },
    #[error("{0}: {1}")]
    Url(String, InvalidUri),
}

/// Why there is no page at an address.
#[derive(Debug, thiserror::Error)]
enum PageError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Request(#[from] http::Error),
    #[error("it says {0}")]
    Status(StatusCode),
    #[error(transparent)]
    Url(#[from] InvalidUri),
}

impl Verifier {
    pub(super) async fn console(&self) -> Result<VerifyOutcome, AskError> {
        let Some(route) = self.get::<Route>("openshift-console", "console").await? else {
            return Ok(VerifyOutcome::skipped(Check::Console, "this cluster has no console"));
        };
        let Some(url) = route.url() else {
            return Ok(VerifyOutcome::failed(
                Check::Console,
                vec!["no router serves its route".to_owned()],
                FIX,
            ));
        };
        let ca = self.get::<ConfigMap>("openshift-config-managed", "default-ingress-cert").await?;
        Ok(match self.walk(&url, authorities(ca.as_ref())).await {
            Ok(end) if end == url => VerifyOutcome::passed(Check::Console, format!("{url} answers")),
            Ok(end) => {
                VerifyOutcome::passed(Check::Console, format!("{url} answers, with the login at {end}"))
            }
            Err(why) => VerifyOutcome::failed(Check::Console, vec![why.to_string()], FIX),
        })
    }

    /// Goes where it is sent, and says which host it came to.
    async fn walk(&self, from: &str, trusted: Option<Vec<Vec<u8>>>) -> Result<String, ConsoleError> {
        let start: Uri = from.parse().map_err(|error| ConsoleError::Url(from.to_owned(), error))?;
        let mut at = start.clone();
        for step in 0..MOST {
            let answer = self.ask(&at, trusted.clone()).await.map_err(|why| match step {
                0 => ConsoleError::Silent(place(&at), why),
                _ => ConsoleError::SilentNext { from: from.to_owned(), at: place(&at), why },
            })?;
            match answer.headers().get(LOCATION).filter(|_| answer.status().is_redirection()) {
                None => return Ok(place(&at)),
                Some(location) => {
                    let location = location.to_str().unwrap_or_default();
                    let lost = || ConsoleError::SentNowhere(place(&at), location.to_owned());
                    at = next(&at, location).ok_or_else(lost)?;
                    // An identity provider may be somebody else's; the cluster does not answer for it.
                    if domain(&at) != domain(&start) {
                        return Ok(place(&at));
                    }
                }
            }
        }
        Err(ConsoleError::Circle(from.to_owned()))
    }

    /// What is there. A login that wants a name first is one; a router without a pod behind it says 503.
    async fn ask(&self, url: &Uri, trusted: Option<Vec<Vec<u8>>>) -> Result<Response<Body>, PageError> {
        let base: Uri = place(url).parse()?;
        let mut config = Config::new(base);
        config.root_cert = trusted;
        config.connect_timeout = Some(self.patience);
        let client = without_retries(&config).map_err(AskError::from)?;
        let path = url.path_and_query().map_or("/", |path| path.as_str());
        let request = http::Request::get(path).body(Body::empty())?;
        let answer = self.within(client.send(request)).await?;
        let status = answer.status();
        let asks_who = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
        match asks_who || status.is_success() || status.is_redirection() {
            true => Ok(answer),
            false => Err(PageError::Status(status)),
        }
    }
}

/// Who signs for the routers, of `openshift-config-managed/default-ingress-cert`.
pub(super) fn authorities(map: Option<&ConfigMap>) -> Option<Vec<Vec<u8>>> {
    let ca = map.and_then(|map| map.get("ca-bundle.crt")).unwrap_or_default();
    pem::decode(ca).ok().map(|blocks| blocks.into_iter().map(|block| block.der).collect())
}

/// What its host has in common with the cluster's other routes.
fn domain(url: &Uri) -> &str {
    url.host().and_then(|host| host.split_once('.')).map_or("", |(_, domain)| domain)
}

/// Scheme, host and port.
fn place(url: &Uri) -> String {
    format!("{}://{}", url.scheme_str().unwrap_or("https"), url.authority().map_or("", |it| it.as_str()))
}

/// A path at the same place, or somewhere else.
fn next(at: &Uri, location: &str) -> Option<Uri> {
    let text = if location.starts_with('/') { place(at) + location } else { location.to_owned() };
    text.parse().ok().filter(|uri: &Uri| uri.authority().is_some())
}
