//! What DHCP tells machines that boot from the network: their firmware loads iPXE, and iPXE loads the script that hardway serves.
//!
//! ```text
//! iPXE                          the script, over HTTP (it says who it is with option 175)
//! firmware with HTTP boot       ipxe.efi, over HTTP (architecture 16, RFC 5970's registry)
//! firmware with PXE             ipxe.efi or undionly.kpxe, over TFTP
//! ```
//!
//! The URLs have a part that nobody guesses, so these texts are files of their own, which only their owner reads.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// Where machines find what they boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootOptions {
    /// The script that iPXE runs.
    pub script: String,
    /// iPXE for firmware that boots over HTTP.
    pub efi: Option<String>,
    /// A folder with `ipxe.efi` and `undionly.kpxe`, from which dnsmasq serves them over TFTP.
    pub tftp_root: Option<String>,
}

impl BootOptions {
    /// Lines of dnsmasq's configuration.
    pub fn dnsmasq(&self) -> String {
        let mut text = format!(
            "# Made by hardway. The URLs are secrets: whoever has them reads the configs of hosts that have not joined.\n\
             dhcp-match=set:ipxe,175\ndhcp-match=set:http,option:client-arch,16\n\
             dhcp-match=set:efi,option:client-arch,7\ndhcp-match=set:efi,option:client-arch,9\n\
             dhcp-boot=tag:ipxe,{}\n",
            self.script
        );
        if let Some(efi) = &self.efi {
            // Without the answer's own vendor class, firmware takes the offer for one of plain PXE.
            let _ = writeln!(
                text,
                "dhcp-boot=tag:!ipxe,tag:http,{efi}\ndhcp-option-force=tag:!ipxe,tag:http,60,HTTPClient"
            );
        }
        if let Some(folder) = &self.tftp_root {
            let _ = writeln!(
                text,
                "enable-tftp\ntftp-root={folder}\ndhcp-boot=tag:!ipxe,tag:!http,tag:efi,ipxe.efi\n\
                 dhcp-boot=tag:!ipxe,tag:!http,tag:!efi,undionly.kpxe"
            );
        }
        text
    }

    /// The value of `client-classes` of Kea's DHCPv4 server. TFTP is another server's there.
    pub fn kea4(&self) -> String {
        let mut classes = vec![json!({
            "name": "hardway-ipxe",
            "test": "option[175].exists",
            "boot-file-name": self.script,
        })];
        if let Some(efi) = &self.efi {
            classes.push(json!({
                "name": "hardway-http-boot",
                "test": "not option[175].exists and option[93].hex == 0x0010",
                "boot-file-name": efi,
                "option-data": [{"name": "vendor-class-identifier", "data": "HTTPClient", "always-send": true}],
            }));
        }
        format!("{:#}\n", Value::Array(classes))
    }
}
