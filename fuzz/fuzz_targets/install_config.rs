//! Any text as install-config.yaml: the reader comes back, with every place inside the text.
#![no_main]

use hardway_assets::install_config::{self, Rules};
use hardway_assets::violation::Kind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for version in ["4.18.3", "5.1.0"] {
        let violations = match install_config::read(text, Rules::for_version(version)) {
            Ok(read) => {
                // What was found good can be written down and asked further questions.
                serde_json_of(&read.value);
                install_config::single_node(&read.value);
                install_config::architecture(&read.value, "arm64");
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

fn serde_json_of(config: &install_config::InstallConfig) {
    serde_json::to_value(config).expect("a config is JSON");
}
