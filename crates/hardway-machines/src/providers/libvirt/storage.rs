//! The pool that disks and install media lie in: QEMU may read there, and in few other places.

use hardway_base::shell_word;

use super::Libvirt;
use crate::actions::{Action, ActionCheck, Program};

impl Libvirt {
    /// A pool of this name that runs. One that is there already is used as it is.
    pub(super) fn storage(&self) -> Vec<Action> {
        let (virsh, hypervisor) = (self.virsh(), self.hypervisor());
        let (pool, path) = (&self.settings.pool, &self.settings.pool_path);
        let all = "pool-list --all --name";
        let word = shell_word(path);
        let has_pool = virsh.lists(all, pool);
        let folder = Action::programs(
            "storage/folder",
            "the folder for disks and install media, which QEMU's user can enter",
            // A pool that is there has its own folder, perhaps another.
            ActionCheck::Succeeds(virsh.unless_listed(
                all,
                pool,
                &[hypervisor.run(Program::new("test", ["-d", path]))],
            )),
            [hypervisor.run(Program::new("install", ["-d", "-m", "0711", path]))],
            [hypervisor
                .shell(&format!("if [ -d {word} ]; then rmdir --ignore-fail-on-non-empty {word}; fi"))],
        );
        let defined = Action::programs(
            "storage/pool",
            format!("the storage pool {pool}, whose files get the permissions and labels that QEMU needs"),
            has_pool,
            [virsh.call("pool-define-as", [pool, "dir", "--target", path])],
            [virsh.if_listed(all, pool, &[virsh.call("pool-undefine", [pool])])],
        );
        let autostarted = Action::programs(
            "storage/autostart",
            "it starts when the host boots",
            virsh.lists("pool-list --all --autostart --name", pool),
            [virsh.call("pool-autostart", [pool])],
            [virsh.if_listed(
                "pool-list --all --autostart --name",
                pool,
                &[virsh.call("pool-autostart", [pool, "--disable"])],
            )],
        );
        let active = "pool-list --name";
        let started = Action::programs(
            "storage/active",
            "it is active",
            virsh.lists(active, pool),
            [virsh.call("pool-start", [pool])],
            [virsh.if_listed(active, pool, &[virsh.call("pool-destroy", [pool])])],
        );
        vec![folder, defined, autostarted, started]
    }
}
