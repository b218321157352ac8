//! Any text as inventory.yaml, beside a good install-config: the reader comes back, with every place inside the text.
#![no_main]

use hardway_assets::install_config::{self, InstallConfig, Rules};
use hardway_assets::inventory;
use hardway_assets::violation::Kind;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fuzz_target!(|text: &str| {
    static CONFIG: OnceLock<InstallConfig> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let text = include_str!("../seeds/install_config/plain.yaml");
        install_config::read(text, Rules::for_version("4.18.3")).expect("the seed is good").value
    });
    for config in [None, Some(config)] {
        let violations = match inventory::read(text, config) {
            Ok(read) => {
                assert!(!read.value.hosts.is_empty());
                read.warnings
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                errors
            }
        };
        for violation in violations {
            let unexplained = violation.kind == Kind::Internal && violation.path.is_empty();
            assert!(!unexplained, "{violation}");
            let span = violation.span.expect("every violation has a place");
            assert!(text.get(span.start..span.end).is_some(), "{violation:?}");
        }
    }
});
