//! The config of a live system that installs a host: writes the OS and the host's own config to a disk, and restarts.
//!
//! The live system starts coreos-installer when there is a file in `/etc/coreos/installer.d` (coreos-installer
//! `systemd/coreos-installer-generator`, `scripts/coreos-installer-service`). What `coreos-installer iso customize` puts
//! there is put there here, under hardway's name.

use serde_json::{Map, Value, json};

use crate::ignition::Config;
use crate::yaml;

/// Where the host's own config lies in the live system.
pub const DESTINATION: &str = "/etc/coreos/dest.ign";
/// The installer's settings.
pub const INSTALLER: &str = "/etc/coreos/installer.d/0000-hardway.yaml";

/// What goes into it.
#[derive(Clone, Copy, Default)]
pub struct LiveConfig<'c> {
    /// The disk that is overwritten.
    pub disk: &'c str,
    /// The config that the installed system reads on its first boot.
    pub config: &'c [u8],
    /// Whether the live system's network keyfiles count at that first boot, too.
    pub copy_network: bool,
    /// Kernel arguments of the installed system.
    pub append_kernel_arguments: &'c [String],
    /// Those that it shall not have.
    pub delete_kernel_arguments: &'c [String],
    /// Run before or after the installer.
    pub scripts: &'c [Script],
    /// Who may log in while it installs.
    pub ssh_key: &'c str,
    /// A config of the user's that is merged with all this.
    pub user_config: Option<&'c [u8]>,
}

/// A script that the live system runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Before or after.
    pub when: When,
    /// Part of a file's name and of a unit's.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
}

/// When a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After the network is up, before the disk is touched.
    BeforeInstall,
    /// After the disk is written, before the restart.
    AfterInstall,
}

/// A name that cannot be part of a unit's, or that two scripts have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a valid script name: use letters, digits, dots, dashes and underscores, and each name once"
)]
pub struct ScriptName(pub String);

impl LiveConfig<'_> {
    /// As JSON. Contents are percent-encoded: the embed area is packed with xz, which makes 40 % more of them in
    /// base64.
    pub fn write(&self) -> Result<Vec<u8>, ScriptName> {
        let mut config = Config::default();
        let twice = |path: &str| ScriptName(path.to_owned());
        config.plain_file(DESTINATION, 0o600, self.config).map_err(|_| twice(DESTINATION))?;
        let settings = yaml::write(&self.installer());
        config.plain_file(INSTALLER, 0o600, settings.as_bytes()).map_err(|_| twice(INSTALLER))?;
        for script in self.scripts {
            script.add(&mut config)?;
        }
        if !self.ssh_key.trim().is_empty() {
            config.user("core", &[self.ssh_key.trim()]);
        }
        if let Some(user_config) = self.user_config {
            config.merge(user_config);
        }
        Ok(config.write())
    }

    fn installer(&self) -> Value {
        let mut settings = Map::from_iter([
            ("dest-device".to_owned(), json!(self.disk)),
            ("ignition-file".to_owned(), json!(DESTINATION)),
        ]);
        if self.copy_network {
            settings.insert("copy-network".to_owned(), json!(true));
        }
        for (key, arguments) in
            [("append-karg", self.append_kernel_arguments), ("delete-karg", self.delete_kernel_arguments)]
        {
            if !arguments.is_empty() {
                settings.insert(key.to_owned(), json!(arguments));
            }
        }
        Value::Object(settings)
    }
}

impl Script {
    fn add(&self, config: &mut Config) -> Result<(), ScriptName> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_name = !self.name.is_empty() && self.name.len() < 200 && self.name.chars().all(is_plain);
        let wrong = || ScriptName(self.name.clone());
        if !is_name {
            return Err(wrong());
        }
        let (word, order, wanted_by) = match self.when {
            When::BeforeInstall => (
                "pre",
                "After=coreos-installer-pre.target\nBefore=coreos-installer.service",
                "coreos-installer.service",
            ),
            When::AfterInstall => (
                "post",
                "After=coreos-installer.service\nBefore=coreos-installer.target",
                "coreos-installer.target",
            ),
        };
        let path = format!("/usr/local/bin/{word}-install-{}", self.name);
        config.plain_file(&path, 0o700, &self.text).map_err(|_| wrong())?;
        let unit = format!(
            "# Written by hardway: the install fails when this script does.\n\
             [Unit]\nDescription={word}-install script {}\n{order}\n\n\
             [Service]\nType=oneshot\nRemainAfterExit=true\nExecStart={path}\n\
             StandardOutput=kmsg+console\nStandardError=kmsg+console\n\n\
             [Install]\nRequiredBy={wanted_by}\n",
            self.name
        );
        config.unit(&format!("{word}-install-{}.service", self.name), Some(true), Some(&unit), &[]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ignition::data_of;

    fn file(config: &Value, path: &str) -> String {
        let files = config["storage"]["files"].as_array().unwrap();
        let file = files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("no {path}"));
        String::from_utf8(data_of(file["contents"]["source"].as_str().unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn the_installer_is_told_everything() {
        let arguments = ["console=ttyS0".to_owned()];
        let text = b"#!/bin/sh\nwipefs -a /dev/sdb\n".to_vec();
        let script = Script { when: When::BeforeInstall, name: "wipe.sh".to_owned(), text: text.clone() };
        let user_config = br#"{"ignition": {"version": "3.3.0"}}"#;
        let live = LiveConfig {
            disk: "/dev/vda",
            config: "{\"ignition\": {\"version\": \"3.2.0\"}, \"ü\": \"100%\"}\n".as_bytes(),
            copy_network: true,
            append_kernel_arguments: &arguments,
            delete_kernel_arguments: &[],
            scripts: &[script],
            ssh_key: "ssh-ed25519 AAAA me\n",
            user_config: Some(user_config),
        };
        let config: Value = serde_json::from_slice(&live.write().unwrap()).unwrap();
        assert_eq!(file(&config, DESTINATION).as_bytes(), live.config);
        assert_eq!(
            file(&config, INSTALLER),
            "append-karg:\n- console=ttyS0\ncopy-network: true\ndest-device: /dev/vda\nignition-file: /etc/coreos/dest.ign\n"
        );
        assert_eq!(file(&config, "/usr/local/bin/pre-install-wipe.sh").as_bytes(), text);
        assert_eq!(config["systemd"]["units"][0]["name"], "pre-install-wipe.sh.service");
        assert_eq!(config["passwd"]["users"][0]["sshAuthorizedKeys"][0], "ssh-ed25519 AAAA me");
        let merged = config["ignition"]["config"]["merge"][0]["source"].as_str().unwrap();
        assert_eq!(data_of(merged).unwrap(), user_config);
    }

    #[test]
    fn names_that_no_unit_can_have_are_refused() {
        for names in [&["a b"][..], &[""], &["../x"], &["same", "same"]] {
            let script =
                |name: &&str| Script { when: When::AfterInstall, name: (*name).to_owned(), text: Vec::new() };
            let scripts: Vec<Script> = names.iter().map(script).collect();
            let live = LiveConfig { scripts: &scripts, ..LiveConfig::default() };
            assert_eq!(live.write(), Err(ScriptName(names[0].to_owned())));
        }
    }
}
