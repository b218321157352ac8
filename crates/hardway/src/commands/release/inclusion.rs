//! Which manifests of a release the cluster of an install-config gets.

use std::path::Path;

use hardway_assets::install_config::{self, CUSTOM_FEATURE_SET, Capabilities, Rules, parse_gate};
use hardway_assets::release_payload::{EnabledCapabilities, InclusionRules, ReleasePayload};
use hardway_assets::{violation, yaml};
use serde_json::Value;

use crate::cli::Global;
use crate::inputs::Workdir;
use crate::release::unusable;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// The fields that manifests ask for, and the one without which no other counts. The rest may be unfinished.
const FIELDS: [&str; 4] = ["apiVersion", "capabilities", "featureGates", "featureSet"];

/// The rules for the cluster of the install-config that is given, else of the one in the working folder, else for a
/// cluster with all defaults.
pub(super) fn rules(
    global: &Global,
    given: Option<&Path>,
    payload: &ReleasePayload,
    out: &Output,
) -> Result<InclusionRules, Report> {
    let (name, text) = match given {
        Some(path) => {
            let text =
                fs_err::read_to_string(path).map_err(|error| Report::from_error(Code::Usage, &error))?;
            (path.display().to_string(), Some(text))
        }
        None => {
            let workdir = Workdir::open(&global.dir)?;
            (workdir.shown("install-config.yaml"), workdir.text("install-config.yaml")?)
        }
    };
    let Some(text) = text else {
        out.info("no install-config.yaml: using the defaults");
        return Ok(InclusionRules::of(payload, ""));
    };
    refuse(&name, &text, payload)?;
    out.debug(&format!("feature set and capabilities: {name}"));
    let config = yaml::read(&text).map(|node| node.to_json()).unwrap_or_default();
    with_config(&config, payload)
}

/// Mistakes in the fields that count.
fn refuse(name: &str, text: &str, payload: &ReleasePayload) -> Result<(), Report> {
    let counts = |violation: &violation::Violation| {
        violation.kind == violation::FieldErrorKind::Syntax
            || FIELDS.iter().any(|field| violation.path.starts_with(field))
    };
    let read = install_config::read(text, Rules::for_version(&payload.version));
    let wrong: Vec<_> = read.err().unwrap_or_default().into_iter().filter(counts).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    // A syntax error may stand beside a secret, and its words may quote it.
    let shown = |violation: &violation::Violation| match violation.kind {
        violation::FieldErrorKind::Syntax => format!("{name} is not YAML"),
        _ => violation.to_string(),
    };
    Err(Report::new(Code::ConfigInvalid, format!("{name} cannot be used"))
        .evidence(wrong.iter().map(shown))
        .fix("correct the file; `hardway validate` shows where, in a folder that has it as install-config.yaml"))
}

fn with_config(config: &Value, payload: &ReleasePayload) -> Result<InclusionRules, Report> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
    let feature_set = text(&config["featureSet"]);
    let mut rules = InclusionRules::of(payload, &feature_set);
    if let Some(gates) = rules.enabled_gates.as_mut().filter(|_| feature_set == CUSTOM_FEATURE_SET) {
        for entry in texts(&config["featureGates"]) {
            match parse_gate(&entry) {
                Ok((name, true)) => drop(gates.insert(name.to_owned())),
                Ok((name, false)) => drop(gates.remove(name)),
                Err(_) => {}
            }
        }
    }
    if let Some(wanted) = config["capabilities"].as_object() {
        let capability = |key: &str| wanted.get(key).unwrap_or(&Value::Null);
        let wanted = Capabilities {
            additional_enabled_capabilities: texts(capability("additionalEnabledCapabilities")),
            baseline_capability_set: text(capability("baselineCapabilitySet")),
        };
        let contract = payload.contract().map_err(|error| unusable(&error))?;
        rules.capabilities = Some(EnabledCapabilities::of(&contract, Some(&wanted)));
    }
    Ok(rules)
}
