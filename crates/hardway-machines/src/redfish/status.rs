//! What a controller says about its machine.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// Whether the machine has power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Power {
    /// No.
    Off,
    /// Yes.
    On,
    /// On its way, or nobody knows.
    Unknown,
}

/// What a machine can be told to boot from once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootFrom {
    /// Its network card.
    Network,
    /// The virtual drive.
    VirtualCd,
}

/// The machine, as its controller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Whether it has power.
    pub power: Power,
    /// What it boots next, in the controller's words: `Cd, Once`; nothing when it is up to the firmware.
    pub boot: Option<String>,
    /// The image in the virtual drive, without what is secret in its URL.
    pub medium: Option<String>,
    /// The system's path.
    pub system: String,
    /// Manufacturer and model, as far as they are told.
    pub model: String,
}

impl Power {
    pub(super) fn read(system: &Value) -> Self {
        match system["PowerState"].as_str() {
            Some("On") => Self::On,
            Some("Off") => Self::Off,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Unknown => "unknown",
        })
    }
}

impl Status {
    pub(super) fn read(path: &str, system: &Value, medium: Option<String>) -> Self {
        let text = |name: &str| system[name].as_str().unwrap_or_default().trim().to_owned();
        let boot = &system["Boot"];
        let target = boot["BootSourceOverrideTarget"].as_str().filter(|target| *target != "None");
        let enabled = boot["BootSourceOverrideEnabled"].as_str().filter(|enabled| *enabled != "Disabled");
        Self {
            power: Power::read(system),
            boot: target.zip(enabled).map(|(target, enabled)| format!("{target}, {enabled}")),
            medium,
            system: path.to_owned(),
            model: format!("{} {}", text("Manufacturer"), text("Model")).trim().to_owned(),
        }
    }
}

/// A line each.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "power: {}", self.power)?;
        writeln!(f, "medium: {}", self.medium.as_deref().unwrap_or("none"))?;
        writeln!(f, "boot: {}", self.boot.as_deref().unwrap_or("as set in the firmware"))?;
        writeln!(f, "system: {}", self.system)?;
        writeln!(f, "model: {}", if self.model.is_empty() { "unknown" } else { &self.model })
    }
}
