//! From text to a checked install-config.

use super::InstallConfig;
use super::convert::convert;
use super::draft::Draft;
use super::rules::{self, Rules};
use super::values::find;
use crate::input_tables::INSTALL_CONFIG;
use crate::schema::{self, Findings, Read};
use crate::violation::Violation;
use crate::yaml::{self, Node, Span, Value};

/// Reads the file: syntax, schema, up-conversion, defaults, rules. Any network plugin is taken, as openshift-install does: without an
/// inventory there is no place to name it in. Every violation is reported in one run; only a
/// syntax error or an unknown apiVersion ends it early, because nothing after them could be trusted.
///
/// ```
/// use hardway_assets::example;
/// use hardway_assets::install_config::{self, Rules};
///
/// let config = install_config::read(example::INSTALL_CONFIG, Rules::for_version("4.18.1")).unwrap().value;
/// assert_eq!(config.domain(), "ocp4.example.com");
/// assert_eq!(config.publish, "External", "a default");
///
/// let mistakes = install_config::read("apiVersion: v1", Rules::for_version("4.18.1")).unwrap_err();
/// assert!(mistakes.iter().any(|mistake| mistake.path == "metadata.name"));
/// ```
pub fn read(text: &str, rules: Rules) -> Result<Read<InstallConfig>, Vec<Violation>> {
    match examine(text, rules, &|_| true) {
        Examined { config: Some(value), errors, warnings, node } if errors.is_empty() => {
            Ok(Read { value, warnings, node })
        }
        Examined { errors, .. } => Err(schema::reasons(errors)),
    }
}

/// What a look at the file gave, good or bad.
pub(crate) struct Examined {
    /// The typed file. There may be one although there are errors, as long as they leave its parts readable.
    pub(crate) config: Option<InstallConfig>,
    pub(crate) errors: Vec<Violation>,
    pub(crate) warnings: Vec<Violation>,
    pub(crate) node: Node,
}

/// Like [`read`], but keeps whatever could be understood so that the inventory can be held against it. A network plugin that is
/// not the release's must be a known one.
pub(crate) fn examine(text: &str, rules: Rules, is_known_plugin: &dyn Fn(&str) -> bool) -> Examined {
    let node = match yaml::read(text) {
        Ok(node) => node,
        Err(errors) => {
            let node = Node { span: Span { start: 0, end: 0 }, value: Value::Null };
            let errors = schema::syntax(errors);
            return Examined { config: None, errors, warnings: Vec::new(), node };
        }
    };
    let mut errors = schema::check(&node, &INSTALL_CONFIG);
    errors.extend(schema::too_new(&node, &INSTALL_CONFIG, rules.version));
    let readable = errors.iter().all(|violation| violation.kind == crate::violation::FieldErrorKind::Unknown);

    let (converted, notes) = convert(&node);
    let mut findings = Findings::new(&converted, errors);
    notes.into_iter().for_each(|note| findings.warn(note));

    let mut config = None;
    if is_known_version(&converted, &mut findings) {
        let draft = Draft::new(&converted, &rules);
        let of_schema: Vec<String> = findings.errors.iter().map(|error| error.path.clone()).collect();
        rules::check_all(&draft, &rules, is_known_plugin, &mut findings);
        // A value of the wrong type is no value to the rules: that they miss it there is no second mistake.
        let mut place = 0..;
        findings.errors.retain(|error| {
            place.next().is_some_and(|i| i < of_schema.len()) || !of_schema.contains(&error.path)
        });
        config = if readable { draft.assemble() } else { None };
    }
    let Findings { errors, warnings, .. } = findings;
    Examined { config, errors, warnings, node }
}

/// Whether `apiVersion` is there and known. A file of another version is not looked at any further.
fn is_known_version(node: &Node, findings: &mut Findings<'_>) -> bool {
    match find(node, "apiVersion").map(|node| &node.value) {
        Some(Value::String(version)) => match version.as_str() {
            "v1" | "v1beta3" | "v1beta4" => true,
            "" => version_missing(findings),
            other => {
                let detail = format!("cannot upconvert from version {other}");
                findings.error(Violation::invalid("apiVersion", other, detail).fix("write apiVersion: v1"));
                false
            }
        },
        // Of the wrong type: the schema check said so.
        Some(_) => false,
        None => version_missing(findings),
    }
}

fn version_missing(findings: &mut Findings<'_>) -> bool {
    findings.error(Violation::required("apiVersion", "no version was provided").fix("write apiVersion: v1"));
    false
}
