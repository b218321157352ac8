//! What differs by chance from run to run: the names drawn for a cluster, dates, generated keys.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value as Json;

/// The random names of one side, and the user's own keys, which are not random.
#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    /// `prod1-x7k2p`
    infra_id: Option<String>,
    /// A UUID.
    cluster_id: Option<String>,
    /// The lines of install-config's `sshKey`.
    ssh_keys: BTreeSet<String>,
}

impl Masks {
    /// Reads them from metadata.json and from the objects of a side.
    pub(super) fn find<'a>(metadata: Option<&Json>, objects: impl Iterator<Item = &'a Json>) -> Self {
        let text = |json: &Json, pointer: &str| {
            json.pointer(pointer).and_then(Json::as_str).filter(|t| !t.is_empty()).map(str::to_owned)
        };
        let mut masks = Self {
            infra_id: metadata.and_then(|m| text(m, "/infraID")),
            cluster_id: metadata.and_then(|m| text(m, "/clusterID")),
            ssh_keys: BTreeSet::new(),
        };
        for object in objects {
            match text(object, "/kind").as_deref() {
                Some("Infrastructure") => {
                    masks.infra_id = masks.infra_id.or_else(|| text(object, "/status/infrastructureName"));
                }
                Some("ClusterVersion") => {
                    masks.cluster_id = masks.cluster_id.or_else(|| text(object, "/spec/clusterID"));
                }
                Some("ConfigMap") => masks.learn_ssh_keys(text(object, "/data/install-config")),
                _ => {}
            }
        }
        masks
    }

    fn learn_ssh_keys(&mut self, install_config: Option<String>) {
        let config = install_config.and_then(|text| crate::yaml::read(&text).ok()).map(|node| node.to_json());
        if let Some(keys) = config.as_ref().and_then(|config| config["sshKey"].as_str()) {
            self.ssh_keys.extend(keys.lines().map(|line| line.trim().to_owned()));
        }
    }

    /// The text with everything random in it replaced by a name for it.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Some((infra_id, (base, _))) =
            self.infra_id.as_ref().and_then(|id| Some((id, id.rsplit_once('-')?)))
        {
            text = text.replace(infra_id.as_str(), &format!("{base}-<random>"));
        }
        if let Some(cluster_id) = &self.cluster_id {
            text = text.replace(cluster_id.as_str(), "<uuid>");
        }
        if text.parse::<Timestamp>().is_ok() { "<time>".to_owned() } else { without_time(&text) }
    }

    /// Was this SSH key given by the user? All others were drawn.
    pub(super) fn is_users_key(&self, key: &str) -> bool {
        key.lines().all(|line| self.ssh_keys.contains(line.trim()))
    }
}

/// Signers of the operators carry the second they were made at: `openshift-etcd_etcd-signer@1700000000`.
pub(super) fn without_time(text: &str) -> String {
    let Some((before, after)) = text.split_once('@') else { return text.to_owned() };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 10 { format!("{before}@<time>{}", &after[digits..]) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn random_names_are_masked_and_their_rest_is_not() {
        let metadata = json!({"infraID": "prod1-x7k2p", "clusterID": "8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11"});
        let masks = Masks::find(Some(&metadata), std::iter::empty());
        assert_eq!(masks.apply("prod1-x7k2p-master"), "prod1-<random>-master");
        assert_eq!(masks.apply("8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11"), "<uuid>");
        assert_eq!(masks.apply("2026-11-15T00:00:00Z"), "<time>");
        assert_eq!(
            masks.apply("CN=openshift-etcd_etcd-signer@1763164800,O=x"),
            "CN=openshift-etcd_etcd-signer@<time>,O=x"
        );
        assert_eq!(masks.apply("admin@corp.example"), "admin@corp.example");
    }

    #[test]
    fn without_metadata_the_objects_tell() {
        let infrastructure = json!({"kind": "Infrastructure", "status": {"infrastructureName": "a-b-12345"}});
        let config = json!({"kind": "ConfigMap", "data": {"install-config": "sshKey: |\n  ssh-rsa A me\n  ssh-rsa B me\n"}});
        let masks = Masks::find(None, [&infrastructure, &config].into_iter());
        assert_eq!(masks.apply("a-b-12345"), "a-b-<random>");
        assert!(masks.is_users_key("ssh-rsa A me\nssh-rsa B me"));
        assert!(!masks.is_users_key("ssh-rsa C"));
    }
}
