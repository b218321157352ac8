//! Pointer configs: a few lines that tell a machine where to fetch the rest.

use super::config::Config;
use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::inventory::Role;
use crate::{Phase, pki};

/// `master.ign` or `worker.ign`: fetch `/config/<role>` from the machine-config-server, trusting the root CA.
pub struct Pointer(pub Role);

impl Asset for Pointer {
    fn id(&self) -> String {
        format!("{}-pointer", self.0)
    }

    fn phase(&self) -> Phase {
        Phase::MakeIgnition
    }

    fn sources(&self) -> Vec<Source> {
        vec![
            Source::config("metadata.name"),
            Source::config("baseDomain"),
            Source::file(pki::path("root-ca")),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public(format!("{}.ign", self.0))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let mut config = Config::default();
        let url = format!("https://{}:22623/config/{}", inputs.cluster.api_int_host(), self.0);
        config.merge_from(&url, inputs.file(&pki::path("root-ca"))?);
        Ok(vec![config.write()])
    }
}
