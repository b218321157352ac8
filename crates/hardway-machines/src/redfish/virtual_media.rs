//! Virtual media: an image somewhere on the network that the machine sees as a disc.

use hardway_base::Secret;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Controller, RedfishError};

/// A virtual drive that takes CDs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VirtualMedia {
    path: String,
    /// The image in it.
    pub(super) image: Option<Secret>,
    insert: Option<String>,
    eject: Option<String>,
}

impl VirtualMedia {
    /// The first drive that takes CDs: of the system, as Redfish has it since 2020, or of one of its managers, as before.
    pub(super) async fn find(controller: &Controller, system: &Value) -> Result<Self, RedfishError> {
        let mut owners = vec![system.clone()];
        let managers = system["Links"]["ManagedBy"].as_array().into_iter().flatten();
        for path in managers.filter_map(|link| link["@odata.id"].as_str()) {
            owners.push(controller.get(path).await?);
        }
        for owner in &owners {
            let Some(drives) = owner["VirtualMedia"]["@odata.id"].as_str() else { continue };
            for path in controller.members(drives).await? {
                let drive = controller.get(&path).await?;
                if takes_discs(&path, &drive) {
                    return Ok(Self::read(path, &drive));
                }
            }
        }
        Err(RedfishError::Unexpected {
            path: controller.system().to_owned(),
            what: "the controller has no virtual CD drive".to_owned(),
        })
    }

    fn read(path: String, drive: &Value) -> Self {
        let target = |name: &str| {
            drive["Actions"][format!("#VirtualMedia.{name}")]["target"].as_str().map(str::to_owned)
        };
        let image = drive["Image"].as_str().filter(|image| !image.is_empty());
        // Some leave the name of the last image there after it was taken out.
        let is_inserted = drive["Inserted"].as_bool().unwrap_or(image.is_some());
        Self {
            image: image.filter(|_| is_inserted).map(Secret::new),
            insert: target("InsertMedia"),
            eject: target("EjectMedia"),
            path,
        }
    }

    /// Puts an image in, in the shape that the controller takes.
    pub(super) async fn insert(&self, controller: &Controller, url: &Secret) -> Result<(), RedfishError> {
        let url = url.expose_text();
        let full = json!({"Image": url, "Inserted": true, "WriteProtected": true});
        let Some(target) = &self.insert else {
            // Lenovo: no action, the drive itself is changed.
            return controller.change(Method::PATCH, &self.path, &full).await;
        };
        match controller.change(Method::POST, target, &full).await {
            // Dell: some versions refuse properties that say what is the default anyway.
            Err(RedfishError::Refused { status, .. }) if status == StatusCode::BAD_REQUEST.as_u16() => {
                controller.change(Method::POST, target, &json!({"Image": url})).await
            }
            result => result,
        }
    }

    /// Takes the image out.
    pub(super) async fn eject(&self, controller: &Controller) -> Result<(), RedfishError> {
        match &self.eject {
            Some(target) => controller.change(Method::POST, target, &json!({})).await,
            None => {
                let empty = json!({"Image": null, "Inserted": false});
                controller.change(Method::PATCH, &self.path, &empty).await
            }
        }
    }
}

fn takes_discs(path: &str, drive: &Value) -> bool {
    match drive["MediaTypes"].as_array() {
        Some(types) => types.iter().any(|kind| matches!(kind.as_str(), Some("CD" | "DVD"))),
        None => {
            let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            ["cd", "dvd"].iter().any(|disc| name.contains(disc))
        }
    }
}
