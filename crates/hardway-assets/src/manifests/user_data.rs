//! `openshift/99_openshift-cluster-api_*-user-data-secret.yaml`: the Secrets openshift-machine-api/*-user-data.

use serde_json::json;

use crate::graph::Source;
use crate::inventory::Role;
use crate::object_file::{ObjectFile, base64};

/// The pointer config of a role, where the machine API looks for what a new machine boots with.
///
/// Platform none makes no machines, but the machine-config-operator keeps the two Secrets up to date, and people fetch
/// the config of later nodes from them.
pub(super) fn user_data(role: Role) -> ObjectFile {
    let pointer = format!("{role}.ign");
    ObjectFile::new(
        format!("{role}-user-data"),
        format!("openshift/99_openshift-cluster-api_{role}-user-data-secret.yaml"),
        [Source::file(&pointer)],
        move |inputs| {
            Ok(json!({
                "apiVersion": "v1",
                "data": {
                    // With the newline that the installer has (`machines/userdata.go`).
                    "disableTemplating": base64("true\n"),
                    "userData": base64(inputs.file(&pointer)?),
                },
                "kind": "Secret",
                "metadata": {"name": format!("{role}-user-data"), "namespace": "openshift-machine-api"},
                "type": "Opaque",
            }))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn each_role_embeds_its_own_pointer() {
        for role in ["master", "worker"] {
            let path = format!("openshift/99_openshift-cluster-api_{role}-user-data-secret.yaml");
            let secret = World::new().object(&path);
            assert_eq!(secret["data"]["disableTemplating"], "dHJ1ZQo=");
            let user_data = STANDARD.decode(secret["data"]["userData"].as_str().unwrap()).unwrap();
            assert_eq!(user_data, format!("pointer of {role}").into_bytes());
        }
    }
}
