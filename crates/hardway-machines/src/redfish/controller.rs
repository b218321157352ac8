//! A controller that was reached.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use http::header::{ETAG, LOCATION};
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::error::message;
use super::transport::{AUTH_TOKEN, BmcAnswer, Credential, Transport};
use super::virtual_media::VirtualMedia;
use super::{Bmc, BootFrom, Login, Power, RedfishError, Status, Trust};
use crate::media_paths::{secret_in, shown};

/// One machine's controller, logged in.
pub struct Controller {
    transport: Transport,
    credential: Credential,
    user: String,
    password: Secret,
    /// To be given back.
    session: Option<String>,
    system: String,
}

/// How long to wait between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// Firmware takes its time to switch off; a controller reads the head of an image before it says that it is inserted.
const LOOKS: u64 = 600;

impl Controller {
    /// Logs in and finds the machine.
    ///
    /// # Errors
    /// When the controller cannot be reached, refuses the login, or has several machines and none was named.
    pub async fn connect(bmc: &Bmc) -> Result<Self, RedfishError> {
        // Over plain HTTP nobody's certificate is looked at, nor is a file read for it.
        let trust = if bmc.address.is_https { &bmc.trust } else { &Trust::Anybody };
        let mut controller = Self {
            transport: Transport::new(bmc.address.clone(), trust.client()?)?,
            credential: Credential::None,
            user: bmc.user.clone(),
            password: bmc.password.clone(),
            session: None,
            system: String::new(),
        };
        match bmc.login {
            Login::Basic => controller.credential = Credential::Basic(basic(bmc)),
            Login::Session => controller.begin_session().await?,
        }
        controller.system = match &bmc.address.system {
            Some(system) => system.clone(),
            None => match controller.only_system().await {
                Ok(system) => system,
                Err(error) => {
                    // Why it failed says more than why the session could not be given back.
                    let _ = controller.close().await;
                    return Err(error);
                }
            },
        };
        Ok(controller)
    }

    /// Gives a session back. Controllers have room for a handful.
    ///
    /// # Errors
    /// When the controller does not want it.
    pub async fn close(self) -> Result<(), RedfishError> {
        match &self.session {
            Some(session) => self.checked(Method::DELETE, session, None, None).await.map(drop),
            None => Ok(()),
        }
    }

    /// The machine's path.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// What the controller says about the machine.
    ///
    /// # Errors
    /// When it does not say it.
    pub async fn status(&self) -> Result<Status, RedfishError> {
        let system = self.get(&self.system).await?;
        // A controller without virtual media still has power to tell about.
        let medium = VirtualMedia::find(self, &system).await.ok().and_then(|drive| drive.image);
        Ok(Status::read(&self.system, &system, medium.map(|url| shown(url.expose_text()))))
    }

    /// Puts an image into the virtual drive, in place of another, and waits until it is there.
    ///
    /// # Errors
    /// When the controller refuses, or does not reach the image.
    pub async fn insert(&self, url: &Secret) -> Result<(), RedfishError> {
        let drive = self.drive().await?;
        if drive.image.as_ref() == Some(url) {
            return Ok(());
        }
        if drive.image.is_some() {
            self.eject().await?;
        }
        drive.insert(self, url).await?;
        self.until(&format!("{} is not in the virtual drive", shown(url.expose_text())), async || {
            Ok(self.drive().await?.image.is_some())
        })
        .await
    }

    /// Takes out whatever is in the virtual drive.
    ///
    /// # Errors
    /// When the controller refuses.
    pub async fn eject(&self) -> Result<(), RedfishError> {
        let drive = self.drive().await?;
        if drive.image.is_none() {
            return Ok(());
        }
        drive.eject(self).await?;
        self.until("the virtual drive is not empty", async || Ok(self.drive().await?.image.is_none())).await
    }

    /// Has the next boot, and no later one, start from there.
    ///
    /// # Errors
    /// When the controller refuses.
    pub async fn boot_once(&self, from: BootFrom) -> Result<(), RedfishError> {
        let system = self.get(&self.system).await?;
        let boot = &system["Boot"];
        let allowed = boot["BootSourceOverrideTarget@Redfish.AllowableValues"].as_array();
        let has = |target: &str| allowed.is_none_or(|list| list.iter().any(|value| value == target));
        let target = match from {
            BootFrom::Network => "Pxe",
            // Supermicro calls it so.
            BootFrom::VirtualCd if !has("Cd") && has("UsbCd") => "UsbCd",
            BootFrom::VirtualCd => "Cd",
        };
        let once = json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": target});
        let mut with_mode = once.clone();
        // Controllers that are not told forget the mode, and start what UEFI has installed as if it were a BIOS.
        with_mode["BootSourceOverrideMode"] =
            boot["BootSourceOverrideMode"].as_str().unwrap_or("UEFI").into();
        // Newer iDRACs take changes beside the system only.
        let settings = system["@Redfish.Settings"]["SettingsObject"]["@odata.id"].as_str();
        match self.change(Method::PATCH, &self.system, &json!({"Boot": with_mode})).await {
            Err(RedfishError::Refused { status: 400, .. }) => {
                self.change(Method::PATCH, &self.system, &json!({"Boot": once})).await
            }
            Err(RedfishError::Refused { status: 405, .. }) if settings.is_some() => {
                self.change(Method::PATCH, settings.unwrap_or_default(), &json!({"Boot": with_mode})).await
            }
            result => result,
        }
    }

    /// Switches the machine on or off, at once, and waits until it is so.
    ///
    /// # Errors
    /// When the controller refuses, or nothing happens.
    pub async fn set_power(&self, wanted: Power) -> Result<(), RedfishError> {
        let system = self.get(&self.system).await?;
        if Power::read(&system) == wanted {
            return Ok(());
        }
        let reset = &system["Actions"]["#ComputerSystem.Reset"];
        let target = reset["target"]
            .as_str()
            .map_or_else(|| format!("{}/Actions/ComputerSystem.Reset", self.system), str::to_owned);
        let kinds: &[&str] = if wanted == Power::On {
            &["On", "ForceOn", "PushPowerButton"]
        } else {
            &["ForceOff", "PushPowerButton"]
        };
        let allowed = reset["ResetType@Redfish.AllowableValues"].as_array();
        let has = |kind: &&str| allowed.is_none_or(|list| list.iter().any(|value| value == kind));
        let kind = kinds.iter().copied().find(|kind| has(kind)).unwrap_or(kinds[0]);
        self.change(Method::POST, &target, &json!({"ResetType": kind})).await?;
        self.until(&format!("the machine is not {wanted}"), async || {
            Ok(Power::read(&self.get(&self.system).await?) == wanted)
        })
        .await
    }

    /// Asks the machine's system to shut down, as its power button would, and does not wait for it.
    ///
    /// # Errors
    /// When the controller refuses, or cannot ask.
    pub async fn shut_down(&self) -> Result<(), RedfishError> {
        let system = self.get(&self.system).await?;
        if Power::read(&system) == Power::Off {
            return Ok(());
        }
        let reset = &system["Actions"]["#ComputerSystem.Reset"];
        let target = reset["target"]
            .as_str()
            .map_or_else(|| format!("{}/Actions/ComputerSystem.Reset", self.system), str::to_owned);
        let allowed = reset["ResetType@Redfish.AllowableValues"].as_array();
        let has = |kind: &&str| allowed.is_none_or(|list| list.iter().any(|value| value == kind));
        let kind =
            ["GracefulShutdown", "PushPowerButton"].into_iter().find(has).unwrap_or("GracefulShutdown");
        self.change(Method::POST, &target, &json!({"ResetType": kind})).await
    }

    async fn drive(&self) -> Result<VirtualMedia, RedfishError> {
        VirtualMedia::find(self, &self.get(&self.system).await?).await
    }

    /// The members of a collection.
    pub(super) async fn members(&self, path: &str) -> Result<Vec<String>, RedfishError> {
        let collection = self.get(path).await?;
        let members = collection["Members"].as_array().into_iter().flatten();
        Ok(members.filter_map(|member| member["@odata.id"].as_str()).map(str::to_owned).collect())
    }

    /// A resource.
    pub(super) async fn get(&self, path: &str) -> Result<Value, RedfishError> {
        let answer = self.checked(Method::GET, path, None, None).await?;
        serde_json::from_slice(&answer.body).map_err(|error| RedfishError::Unexpected {
            path: path.to_owned(),
            what: format!("the answer is not JSON: {error}"),
        })
    }

    /// Changes a resource; with its tag where the controller wants to know that nobody else did meanwhile.
    pub(super) async fn change(&self, method: Method, path: &str, body: &Value) -> Result<(), RedfishError> {
        match self.checked(method.clone(), path, Some(body), None).await {
            Err(RedfishError::Refused { status: 412 | 428, .. }) => {
                let answer = self.checked(Method::GET, path, None, None).await?;
                let tag = answer.headers.get(ETAG).cloned();
                self.checked(method, path, Some(body), tag.as_ref()).await.map(drop)
            }
            result => result.map(drop),
        }
    }

    async fn checked(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        tag: Option<&HeaderValue>,
    ) -> Result<BmcAnswer, RedfishError> {
        let answer = self.transport.ask(&method, path, body, &self.credential, tag).await?;
        let status = answer.status;
        if status.is_success() {
            return Ok(answer);
        }
        if status == StatusCode::UNAUTHORIZED {
            let (address, user) = (self.transport.address().to_string(), self.user.clone());
            return Err(RedfishError::Login { address, user });
        }
        // A medium's URL is as good as the medium.
        let image = body.and_then(|body| body["Image"].as_str()).and_then(secret_in).unwrap_or_default();
        let message = message(&answer.body, &[self.password.expose_text(), self.credential.text(), image]);
        Err(RedfishError::Refused {
            method: method.to_string(),
            path: path.to_owned(),
            status: status.as_u16(),
            message,
        })
    }

    async fn begin_session(&mut self) -> Result<(), RedfishError> {
        const SESSIONS: &str = "/redfish/v1/SessionService/Sessions";
        let login = json!({"UserName": self.user, "Password": self.password.expose_text()});
        let answer = self.checked(Method::POST, SESSIONS, Some(&login), None).await?;
        let Some(token) = answer.headers.get(AUTH_TOKEN) else {
            let what = "a session was created, but the answer has no X-Auth-Token".to_owned();
            return Err(RedfishError::Unexpected { path: SESSIONS.to_owned(), what });
        };
        let mut token = token.clone();
        token.set_sensitive(true);
        self.credential = Credential::Token(token);
        let location = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        // A location may be a whole URL.
        let path = |text: &str| text.find("/redfish/").map(|start| text[start..].to_owned());
        self.session = location.and_then(path).or_else(|| body["@odata.id"].as_str().and_then(path));
        Ok(())
    }

    async fn only_system(&self) -> Result<String, RedfishError> {
        const SYSTEMS: &str = "/redfish/v1/Systems";
        let mut found = self.members(SYSTEMS).await?;
        if found.len() == 1 {
            return Ok(found.remove(0));
        }
        let what = match found.as_slice() {
            [] => "the controller has no machine".to_owned(),
            several => format!(
                "the controller has {} machines: add one of {} to the address",
                several.len(),
                several.join(", ")
            ),
        };
        Err(RedfishError::Unexpected { path: SYSTEMS.to_owned(), what })
    }

    async fn until(
        &self,
        otherwise: &str,
        holds: impl AsyncFn() -> Result<bool, RedfishError>,
    ) -> Result<(), RedfishError> {
        for _ in 0..LOOKS {
            if holds().await? {
                return Ok(());
            }
            sleep(INTERVAL).await;
        }
        let seconds = LOOKS * INTERVAL.as_secs();
        Err(RedfishError::NotDone { seconds, what: otherwise.to_owned() })
    }
}

fn basic(bmc: &Bmc) -> HeaderValue {
    let mut login = zeroize::Zeroizing::new(bmc.user.clone().into_bytes());
    login.push(b':');
    login.extend_from_slice(bmc.password.expose());
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(&*login)))
        .expect("base64 is made of letters that a header takes");
    value.set_sensitive(true);
    value
}
