//! How much a cloud or a hypervisor hands to a machine. What is larger needs a pointer.

/// One way to hand a config to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Such as `gce`.
    pub platform: &'static str,
    /// Of the config as it lies in the file, in bytes.
    pub bytes: u64,
    /// What is limited.
    pub what: &'static str,
    /// Who says so.
    pub source: &'static str,
}

/// More than the platform takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes exceed the limit of {}: {} bytes in {}", .limit.platform, .limit.bytes, .limit.what)]
pub struct TooLarge {
    /// Of the config.
    pub bytes: u64,
    /// What it does not keep.
    pub limit: Limit,
}

/// The limits that are known.
pub const LIMITS: [Limit; 5] = [AWS, AZURE, GCE_LIMIT, OPENSTACK, LIBVIRT];

const AWS: Limit = Limit {
    platform: "aws",
    bytes: 16 << 10,
    what: "user data, before base64",
    source: "Amazon EC2 User Guide, Run commands when you launch an EC2 instance with user data input",
};

const AZURE: Limit = Limit {
    platform: "azure",
    bytes: 65_535,
    what: "osProfile.customData, before base64",
    source: "Azure SDK reference, VirtualMachineOSProfile.CustomData: at most 65535 bytes once decoded",
};

/// Google Compute Engine.
pub const GCE_LIMIT: Limit = Limit {
    platform: "gce",
    bytes: 256 << 10,
    what: "one metadata value (512 KB for all of a machine's)",
    source: "Compute Engine documentation, About VM metadata, limitations",
};

const OPENSTACK: Limit = Limit {
    // 65,535 characters of base64.
    platform: "openstack",
    bytes: 65_535 / 4 * 3,
    what: "user_data, 65,535 bytes after base64",
    source: "openstack/nova nova/api/openstack/compute/schemas/servers.py: user_data, base64, maxLength 65535",
};

const LIBVIRT: Limit = Limit {
    // Firmware config is read a byte at a time: more than a megabyte takes longer than Ignition waits.
    platform: "libvirt",
    bytes: 1 << 20,
    what: "fw_cfg opt/com.coreos/config, as much as is read in time",
    source: "coreos/ignition internal/providers/qemu/qemu_fwcfg.go",
};

impl Limit {
    /// Whether a config of this size is taken.
    pub fn check(&self, bytes: u64) -> Result<(), TooLarge> {
        if bytes <= self.bytes { Ok(()) } else { Err(TooLarge { bytes, limit: *self }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept_to_the_byte() {
        assert_eq!(GCE_LIMIT.check(262_144), Ok(()));
        let error = GCE_LIMIT.check(262_145).unwrap_err();
        assert!(
            error.to_string().starts_with("262145 bytes exceed the limit of gce: 262144 bytes"),
            "{error}"
        );
    }
}
