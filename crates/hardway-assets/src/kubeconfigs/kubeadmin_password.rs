//! `auth/kubeadmin-password`

use crate::Phase;
use crate::graph::{Asset, Inputs, MakeError, Output, Source};

/// The password as the user types it, without a newline. The cluster gets only its bcrypt hash.
pub struct KubeadminPassword;

impl Asset for KubeadminPassword {
    fn id(&self) -> String {
        "kubeadmin-password".to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::MakeKubeconfigs
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::Secret("kubeadmin-password".to_owned())]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::secret("auth/kubeadmin-password")]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(vec![inputs.secrets.get("kubeadmin-password")?.expose().trim_ascii_end().to_vec()])
    }
}
