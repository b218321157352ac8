//! The programs that render, and how a bootstrap host calls them (openshift/installer `bootkube.sh.template`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::topology::Site;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct RenderProgram {
    /// The tag of its image, and what the program is called.
    pub(super) name: &'static str,
    /// Flags, of which those are passed that the program knows. ASSETS is the folder that both sides share, OUT the program's own, VERSION and
    /// IMAGE(name) what the release says, TEMPLATES what the image has in it.
    flags: &'static [&'static str],
}

/// The machine-config-operator is not among them: hardway runs it itself, from the release, and has nothing of its own to compare.
pub(super) const PROGRAMS: [RenderProgram; 5] = [
    RenderProgram {
        name: "cluster-etcd-operator",
        flags: &[
            "asset-output-dir=OUT",
            "template-dir=TEMPLATES",
            "etcd-image=IMAGE(etcd)",
            "cluster-configmap-file=ASSETS/manifests/cluster-config.yaml",
            "infra-config-file=ASSETS/manifests/cluster-infrastructure-02-config.yml",
            "network-config-file=ASSETS/manifests/cluster-network-02-config.yml",
            "rendered-manifest-files=ASSETS/manifests",
            "payload-version=VERSION",
        ],
    },
    RenderProgram {
        name: "cluster-kube-apiserver-operator",
        flags: &[
            "templates-input-dir=TEMPLATES",
            "manifest-etcd-serving-ca=etcd-ca-bundle.crt",
            "manifest-etcd-server-urls=https://localhost:2379",
            "manifest-image=IMAGE(hyperkube)",
            "manifest-operator-image=IMAGE(cluster-kube-apiserver-operator)",
            "asset-input-dir=ASSETS/tls",
            "asset-output-dir=OUT",
            "config-output-file=OUT/config",
            "cluster-config-file=ASSETS/manifests/cluster-network-02-config.yml",
            "cluster-auth-file=ASSETS/manifests/cluster-authentication-02-config.yaml",
            "infra-config-file=ASSETS/manifests/cluster-infrastructure-02-config.yml",
            "rendered-manifest-files=ASSETS/manifests",
            "payload-version=VERSION",
            "operand-kubernetes-version=KUBERNETES",
        ],
    },
    RenderProgram {
        name: "cluster-kube-controller-manager-operator",
        flags: &[
            "templates-input-dir=TEMPLATES",
            "cluster-policy-controller-image=IMAGE(cluster-policy-controller)",
            "manifest-image=IMAGE(hyperkube)",
            "asset-input-dir=ASSETS/tls",
            "asset-output-dir=OUT",
            "config-output-file=OUT/config",
            "cpc-config-output-file=OUT/cpc-config",
            "cluster-config-file=ASSETS/manifests/cluster-network-02-config.yml",
            "rendered-manifest-files=ASSETS/manifests",
            "payload-version=VERSION",
        ],
    },
    RenderProgram {
        name: "cluster-kube-scheduler-operator",
        flags: &[
            "templates-input-dir=TEMPLATES",
            "manifest-image=IMAGE(hyperkube)",
            "asset-input-dir=ASSETS/tls",
            "asset-output-dir=OUT",
            "config-output-file=OUT/config",
            "rendered-manifest-files=ASSETS/manifests",
            "payload-version=VERSION",
        ],
    },
    RenderProgram {
        name: "cluster-config-operator",
        flags: &[
            "templates-input-dir=TEMPLATES",
            "skip-api-rendering",
            "cluster-infrastructure-input-file=ASSETS/manifests/cluster-infrastructure-02-config.yml",
            "cloud-provider-config-output-file=OUT/cloud-config",
            "config-output-file=OUT/config",
            "asset-input-dir=ASSETS/tls",
            "asset-output-dir=OUT",
            "rendered-manifest-files=ASSETS/manifests",
            "payload-version=VERSION",
        ],
    },
];

impl RenderProgram {
    /// Where it is in a version's folder.
    pub(super) fn path(&self, version: &Path) -> PathBuf {
        version.join(self.name).join("usr/bin").join(self.name)
    }

    /// Runs it on a site's files, as the bootstrap host of that site: with its name and addresses, and no other network. Gives back the folder
    /// that it wrote.
    pub(super) fn run(&self, version: &Path, site: &Site) -> Result<PathBuf> {
        let out = site.folder.with_extension(self.name);
        fs_err::create_dir_all(&out)?;
        let program = std::path::absolute(self.path(version))?;
        let templates = std::path::absolute(version.join(self.name).join("usr/share/bootkube/manifests"))?;
        let help = Command::new(&program)
            .args(["render", "--help"])
            .output()
            .with_context(|| program.display().to_string())?;
        let help =
            String::from_utf8_lossy(&help.stdout).into_owned() + &String::from_utf8_lossy(&help.stderr);
        let mut words = vec![program.display().to_string(), "render".to_owned()];
        for flag in self.known(&help) {
            words.push(format!("--{}", site.filled(flag, &out, &templates)?));
        }
        let script = "hostname \"$1\"; ip link set lo up; ip link add eth0 type veth peer name eth1; ip link set eth1 up; \
             ip link set eth0 up; for address in $2; do ip addr add \"$address\" dev eth0 nodad; done; shift 2; exec \"$@\"";
        let output = Command::new("unshare")
            .args(["--net", "--uts", "sh", "-ec", script, "sh", &site.host, &site.addresses])
            .args(&words)
            .current_dir(&out)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success(),
            "{}: {}",
            output.status,
            said.trim().lines().last().unwrap_or_default()
        );
        Ok(out)
    }

    /// The flags that this version of it has.
    fn known(&self, help: &str) -> Vec<&'static str> {
        let is_known = |flag: &&&str| {
            let name = flag.split('=').next().unwrap_or_default();
            help.split_whitespace().any(|word| {
                word.trim_start_matches("--").split('=').next() == Some(name) && word.starts_with("--")
            })
        };
        self.flags.iter().filter(is_known).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flags_that_a_version_has_are_passed() {
        let help = "Flags:\n      --asset-output-dir string   Output path\n      --etcd-image string\n";
        assert_eq!(PROGRAMS[0].known(help), ["asset-output-dir=OUT", "etcd-image=IMAGE(etcd)"]);
    }
}
