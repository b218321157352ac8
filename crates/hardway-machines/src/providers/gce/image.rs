//! The OS image, imported where it is not there.

use super::gcloud::{Resource, shell};
use super::{Gce, Image};
use crate::actions::{Action, ActionCheck};

impl Gce {
    /// Nothing where an image is named.
    pub(super) fn image(&self) -> Vec<Action> {
        let Image::Imported { file, bucket } = &self.settings.image else { return Vec::new() };
        let path = self.folder.join(file).display().to_string();
        let object = format!("gs://{bucket}/{}.tar.gz", self.name("rhcos"));
        let found = self.gcloud("storage objects describe").with([object.as_str(), "--format=value(name)"]);
        let list = self.gcloud("storage ls").with([format!("gs://{bucket}")]);
        let remove = self.gcloud("storage rm").with([object.as_str()]);
        let upload = Action::programs(
            "image/object",
            "the OS image file in the bucket",
            ActionCheck::Succeeds(found),
            [self.gcloud("storage cp").with([path, object.clone()])],
            [shell(format!("found=$({list}) && case \"$found\" in *{object}*) {remove};; esac"))],
        );
        let resource = Resource::global("compute images", self.name("rhcos"));
        let options = [
            format!("--source-uri={object}"),
            // What RHCOS supports, as the installer declares it.
            "--guest-os-features=UEFI_COMPATIBLE,VIRTIO_SCSI_MULTIQUEUE,GVNIC".to_owned(),
            format!("--labels={}", self.labels()),
        ];
        let why = "the OS that machines boot, as the release names it";
        vec![upload, self.resource("image/rhcos", why, &resource, options)]
    }

    /// Name and project.
    pub(super) fn image_options(&self) -> [String; 2] {
        let (name, project) = match &self.settings.image {
            Image::Named { name, project } => (name.clone(), project),
            Image::Imported { .. } => (self.name("rhcos"), &self.settings.project),
        };
        [format!("--image={name}"), format!("--image-project={project}")]
    }
}
