//! What stands below the help of every command: examples that work as they stand, and the codes it can end with.

use clap::{Command, CommandFactory as _};

use super::groups::grouped;
use super::{Cli, environment};
use crate::report::Exit::{self, Blocked, Bootstrap, Config, Infrastructure, Install, Stability};

/// A command, its examples, and its exit codes beyond those of every command: 0 (done), 1 (any other error), 2 (a wrong command
/// line) and 8 (a person ended it).
struct CommandExamples(&'static str, &'static [&'static str], &'static [Exit]);

/// Every command, with examples and exit codes in its help.
pub(crate) fn command() -> Command {
    let all = format!(
        "{}\nExit codes (the same as openshift-install's where both have one):\n{}",
        environment::text(),
        meanings(|_| true)
    );
    let program = grouped(Cli::command()).after_long_help(all);
    ROWS.iter().fold(program, |program, CommandExamples(path, examples, exits)| {
        let words: Vec<&str> = path.split(' ').collect();
        below(program, &words, &text(examples, exits))
    })
}

fn below(command: Command, words: &[&str], text: &str) -> Command {
    match words {
        [] => command.after_long_help(text.to_owned()),
        [word, rest @ ..] => command.mut_subcommand(*word, |command| below(command, rest, text)),
    }
}

fn text(examples: &[&str], exits: &[Exit]) -> String {
    let title = if examples.len() == 1 { "Example" } else { "Examples" };
    let mut text = format!("{title}:\n");
    examples.iter().for_each(|example| text += &format!("  {example}\n"));
    text + "\nExit codes:\n" + &meanings(|exit| is_of_every_command(exit) || exits.contains(&exit))
}

fn is_of_every_command(exit: Exit) -> bool {
    exit <= Exit::Usage || exit == Exit::Interrupted
}

fn meanings(is_wanted: impl Fn(Exit) -> bool) -> String {
    let wanted = Exit::ALL.into_iter().filter(|exit| is_wanted(*exit));
    wanted.map(|exit| format!("  {}  {}", exit.number(), exit.meaning())).collect::<Vec<_>>().join("\n")
}

const INSTALL: &[Exit] = &[Config, Infrastructure, Bootstrap, Install, Stability, Blocked];

#[rustfmt::skip]
const ROWS: &[CommandExamples] = &[
    CommandExamples("approve", &["hardway approve --dry-run", "hardway approve --watch --dir demo"], &[Config, Blocked]),
    CommandExamples("approve declared", &["hardway approve declared > declared.yaml"], &[Config]),
    CommandExamples("approve simulate", &["hardway approve simulate requests.yaml", "hardway approve simulate requests.yaml --node nodes.yaml --as-pending"], &[Config, Blocked]),
    CommandExamples("bmc boot-once-cd", &["hardway bmc boot-once-cd --host master-0"], &[Config, Infrastructure]),
    CommandExamples("bmc boot-once-pxe", &["hardway bmc boot-once-pxe --host master-0"], &[Config, Infrastructure]),
    CommandExamples("bmc by-hand", &["hardway bmc by-hand", "hardway bmc by-hand --host worker-0"], &[Config, Blocked]),
    CommandExamples("bmc eject", &["hardway bmc eject --host master-0"], &[Config, Infrastructure]),
    CommandExamples("bmc insert", &["hardway bmc insert --host master-0"], &[Config, Infrastructure]),
    CommandExamples("bmc power-off", &["hardway bmc power-off --host master-0"], &[Config, Infrastructure]),
    CommandExamples("bmc power-on", &["hardway bmc power-on --host master-0"], &[Config, Infrastructure]),
    CommandExamples("bmc seen", &["hardway bmc seen --host master-0"], &[Config, Blocked]),
    CommandExamples("bmc shut-down", &["hardway bmc shut-down --host worker-0", "hardway bmc shut-down --host worker-0 --dir demo"], &[Config, Infrastructure]),
    CommandExamples("bmc status", &["hardway bmc status --host master-0 -o json"], &[Config, Infrastructure]),
    CommandExamples("certs", &["hardway certs --dir demo", "hardway certs --within 30d --exit-code", "hardway certs --calendar certs.ics"], &[Config]),
    CommandExamples("certs recover", &["hardway certs recover --dry-run", "hardway certs recover --server https://192.168.126.101:6443"], &[Config, Blocked]),
    CommandExamples("check", &["hardway check --dir demo", "hardway check --all", "hardway check --only names-apps", "hardway check --skip-check disk-latency", "hardway check --list"], &[Config]),
    CommandExamples("check images", &["hardway check images --dir demo", "hardway check images -o junit > images.xml"], &[Config]),
    CommandExamples("check manifests", &["hardway check manifests --dir demo", "hardway check manifests -o sarif > manifests.sarif"], &[Config]),
    CommandExamples("completion", &[
        "hardway completion bash > ~/.local/share/bash-completion/completions/hardway",
        "hardway completion zsh > ~/.zfunc/_hardway   # with fpath+=~/.zfunc before compinit",
        "hardway completion fish > ~/.config/fish/completions/hardway.fish",
    ], &[]),
    CommandExamples("create cluster", &["hardway create cluster --dir demo", "hardway create cluster --skip-check disk-latency", "hardway create cluster --page"], INSTALL),
    CommandExamples("create ignition-configs", &["hardway create ignition-configs --dir demo", "hardway create ignition-configs --dry-run"], &[Config]),
    CommandExamples("create install-config", &["hardway create install-config --dir demo --provider bare-metal"], &[]),
    CommandExamples("create manifests", &["hardway create manifests --dir demo", "hardway create manifests --dry-run", "hardway create manifests --undo manifests/cluster-dns-02-config.yml"], &[Config]),
    CommandExamples("create single-node-ignition-config", &["hardway create single-node-ignition-config --dir demo"], &[Config]),
    CommandExamples("day2 apply", &["hardway day2 apply identity --dir demo", "hardway day2 apply time --yes", "hardway day2 apply kubeadmin-gone --yes --token-file token"], &[Config, Blocked]),
    CommandExamples("day2 check", &["hardway day2 check certificates --dir demo", "hardway day2 check time -o json"], &[Config]),
    CommandExamples("day2 list", &["hardway day2 list --dir demo", "hardway day2 list -o json"], &[Config]),
    CommandExamples("day2 plan", &["hardway day2 plan identity --dir demo", "hardway day2 plan time -o json"], &[Config]),
    CommandExamples("day2 undo", &["hardway day2 undo time --dry-run", "hardway day2 undo registry --dir demo"], &[Config, Blocked]),
    CommandExamples("destroy", &["hardway destroy --dir demo --dry-run", "hardway destroy cluster --dir demo", "hardway destroy --keep-images --yes"], &[Infrastructure]),
    CommandExamples("diagnose", &["hardway diagnose --dir demo", "hardway diagnose --bundle log-bundle.tar.gz --all", "hardway diagnose --list"], &[Config]),
    CommandExamples("diff", &["hardway diff --dir demo --against openshift-install-dir"], &[Config]),
    CommandExamples("etcd backup", &["hardway etcd backup --recipient age1tcea3m6zdje2494zrjqw3axreejsedtuu8a5p0hsa9ctt33mns4s3na0xu --keep 14", "hardway etcd backup --recipient age1tcea3m6zdje2494zrjqw3axreejsedtuu8a5p0hsa9ctt33mns4s3na0xu --schedule daily"], &[Config]),
    CommandExamples("etcd defrag", &["hardway etcd defrag --dry-run", "hardway etcd defrag --dir demo"], &[Config]),
    CommandExamples("etcd members", &["hardway etcd members", "hardway etcd members -o json"], &[Config]),
    CommandExamples("etcd prove", &["hardway etcd prove backups/etcd-20261115T120000Z-r4711.tar.age --identity backup.key", "hardway etcd prove etcd.tar.age --identity backup.key --programs bin -o json"], &[]),
    CommandExamples("etcd restore", &["hardway etcd restore backups/etcd-20261115T120000Z-r4711.tar.age --identity backup.key --dry-run", "hardway etcd restore etcd.tar.age --identity backup.key --recovery-host master-0"], &[Config]),
    CommandExamples("etcd status", &["hardway etcd status --dir demo", "hardway etcd status -o json"], &[Config]),
    CommandExamples("explain", &["hardway explain etcd-signer", "hardway explain machines.bare-metal.interface", "hardway explain --etcd-prefix -o json", "hardway explain stage 7"], &[]),
    CommandExamples("gather bootstrap", &["hardway gather bootstrap --dir demo", "hardway gather bootstrap --bootstrap 192.168.126.100 --key id_ed25519"], &[Config]),
    CommandExamples("graph", &["hardway graph -o mermaid", "hardway graph | dot -Tsvg > graph.svg"], &[Config]),
    CommandExamples("hosted cluster create", &["hardway hosted cluster create guest --external-api-server-address 192.168.126.10 --release-image quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --pull-secret pull-secret.json"], &[Config]),
    CommandExamples("hosted cluster delete", &["hardway hosted cluster delete guest"], &[Config]),
    CommandExamples("hosted cluster kubeconfig", &["hardway hosted cluster kubeconfig guest > guest.kubeconfig"], &[Config]),
    CommandExamples("hosted cluster render", &["hardway hosted cluster render guest --external-api-server-address 192.168.126.10 --release-image quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --pull-secret pull-secret.json"], &[Config]),
    CommandExamples("hosted cluster status", &["hardway hosted cluster status guest -o json"], &[Config]),
    CommandExamples("hosted controller", &["hardway hosted controller --cluster guest --dir workers"], &[Config, Infrastructure]),
    CommandExamples("hosted doctor", &["hardway hosted doctor --cluster guest --log worker-0-console.log"], &[Config]),
    CommandExamples("hosted init", &["hardway hosted init --dir workers", "hardway hosted init --provider gce --cluster guest --pool pool-a"], &[]),
    CommandExamples("hosted leftovers", &["hardway hosted leftovers --dir workers"], &[Config, Infrastructure]),
    CommandExamples("hosted nodepool create", &["hardway hosted nodepool create pool-a --cluster guest --replicas 2"], &[Config, Blocked]),
    CommandExamples("hosted nodepool delete", &["hardway hosted nodepool delete pool-a --cluster guest"], &[Config]),
    CommandExamples("hosted nodepool list", &["hardway hosted nodepool list --cluster guest"], &[Config]),
    CommandExamples("hosted nodepool status", &["hardway hosted nodepool status pool-a --cluster guest"], &[Config, Blocked]),
    CommandExamples("hosted ovn", &["hardway hosted ovn --cluster guest", "hardway hosted ovn --cluster guest --fix"], &[Config, Blocked]),
    CommandExamples("hosted plan", &["hardway hosted plan --dir workers", "hardway hosted plan --replicas 3 -o json"], &[Config]),
    CommandExamples("hosted stand-in", &["hardway hosted stand-in --cluster guest --pool pool-a --config worker.ign --ignition-server 192.168.126.2:22624 --ignition-ca ca.crt"], &[Config]),
    CommandExamples("hosted token", &["hardway hosted token --admin-kubeconfig /etc/hardway-admin/kubeconfig --into /run/hardway"], &[Config]),
    CommandExamples("hosted up", &["hardway hosted up --cluster guest --dir workers", "hardway hosted up --cluster guest --replicas 3 -o json"], &[Config, Infrastructure, Blocked]),
    CommandExamples("hosted verify", &["hardway hosted verify --cluster guest"], &[Config]),
    CommandExamples("hosted workers add", &["hardway hosted workers add --cluster guest --pool pool-a -n 2 --dir workers"], &[Config, Infrastructure, Blocked]),
    CommandExamples("hosted workers list", &["hardway hosted workers list --cluster guest --dir workers"], &[Config]),
    CommandExamples("hosted workers remove", &["hardway hosted workers remove worker-0 --cluster guest --dir workers"], &[Config, Infrastructure, Blocked]),
    CommandExamples("hosted workers replace", &["hardway hosted workers replace worker-0 --cluster guest --dir workers"], &[Config, Infrastructure, Blocked]),
    CommandExamples("hosted workers scale", &["hardway hosted workers scale 3 --cluster guest --pool pool-a --dir workers"], &[Config, Infrastructure, Blocked]),
    CommandExamples("infra down", &["hardway infra down --dir demo", "hardway infra down --dry-run"], &[Infrastructure]),
    CommandExamples("infra plan", &["hardway infra plan --dir demo", "hardway infra plan -o script > by-hand.sh"], &[Config, Infrastructure]),
    CommandExamples("infra status", &["hardway infra status --dir demo"], &[Config, Infrastructure]),
    CommandExamples("infra up", &["hardway infra up --dir demo"], &[Config, Infrastructure]),
    CommandExamples("init", &["hardway init --dir demo --provider bare-metal", "hardway init --provider lab --masters 1 --workers 0"], &[]),
    CommandExamples("lab logs", &["hardway lab logs master-0 -- -u kubelet -f"], &[Config, Infrastructure]),
    CommandExamples("lab release", &["hardway lab release --from quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64", "hardway lab release --programs bin --stand-in cluster-policy-controller"], &[Config, Infrastructure]),
    CommandExamples("lab run", &["hardway lab run -- kubectl get nodes"], &[Config, Infrastructure]),
    CommandExamples("lab shell", &["hardway lab shell master-0"], &[Config, Infrastructure]),
    CommandExamples("man", &["hardway man check | man -l -", "hardway man --to /usr/local/share/man/man1"], &[]),
    CommandExamples("media dhcp", &["hardway media dhcp --format dnsmasq --to bare-metal/dnsmasq-boot.conf"], &[Config, Infrastructure]),
    CommandExamples("media embed", &["hardway media embed rhcos-live.iso --to mine.iso --live-karg-append console=ttyS0"], &[Infrastructure]),
    CommandExamples("media iso", &["hardway media iso --all", "hardway media iso --host master-0 --iso rhcos-live.iso"], &[Config, Infrastructure]),
    CommandExamples("media limits", &["hardway media limits -o json"], &[Config]),
    CommandExamples("media pxe", &["hardway media pxe --url http://192.168.126.2:8080"], &[Config, Infrastructure]),
    CommandExamples("media remove", &["hardway media remove media/master-0.iso --to plain.iso"], &[Infrastructure]),
    CommandExamples("media serve", &["hardway media serve --listen 192.168.126.2:8080"], &[Config, Infrastructure]),
    CommandExamples("media show", &["hardway media show media/master-0.iso"], &[Infrastructure]),
    CommandExamples("media urls", &["hardway media urls --url http://192.168.126.2:8080"], &[Config]),
    CommandExamples("node add", &["hardway node add worker-2 --dir demo"], INSTALL),
    CommandExamples("node remove", &["hardway node remove worker-2 --dir demo", "hardway node remove worker-2 --dry-run"], &[Config, Infrastructure, Install, Blocked]),
    CommandExamples("node replace", &["hardway node replace master-1", "hardway node replace master-1 --apply"], INSTALL),
    CommandExamples("page", &["hardway page --dir demo", "hardway page --export install.html", "hardway page --listen 192.168.126.2:8443"], &[Config]),
    CommandExamples("phase explain", &["hardway phase explain make-pki"], &[]),
    CommandExamples("phase list", &["hardway phase list -o json"], &[]),
    CommandExamples("phase redo", &["hardway phase redo await-bootstrap --dir demo"], INSTALL),
    CommandExamples("phase run", &["hardway phase run build-infra --dir demo"], INSTALL),
    CommandExamples("plan", &["hardway plan --dir demo", "hardway plan --all", "hardway plan -o json"], &[Config, Infrastructure]),
    CommandExamples("power off", &["hardway power off --until 2027-01-07 --without-backup --dry-run", "hardway power off --recipient age1tcea3m6zdje2494zrjqw3axreejsedtuu8a5p0hsa9ctt33mns4s3na0xu"], &[Config, Infrastructure, Blocked]),
    CommandExamples("power on", &["hardway power on --dry-run", "hardway power on --dir demo"], &[Config, Infrastructure, Install, Blocked]),
    CommandExamples("release bundle", &["hardway release bundle quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --to ocp-4.18.1.tar", "hardway release bundle --to ocp-4.18.2.tar --differential ocp-4.18.1.tar", "hardway release bundle --verify ocp-4.18.1.tar"], &[Config]),
    CommandExamples("release extract", &["hardway release extract quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --to release-4.18.1", "hardway release extract quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --command oc"], &[Config]),
    CommandExamples("release info", &["hardway release info quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64"], &[Config]),
    CommandExamples("release media", &["hardway release media --format iso --to media", "hardway release media quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64"], &[Config]),
    CommandExamples("release mirror", &["hardway release mirror quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --to registry.example.com/ocp", "hardway release mirror --from-dir carried --to registry.example.com/ocp", "hardway release mirror --from ocp-4.18.1.tar --to registry.example.com/ocp"], &[Config]),
    CommandExamples("release serve", &["hardway release serve ocp-4.18.1.tar --name registry.example.com", "hardway release serve ocp-4.18.2.tar ocp-4.18.1.tar --listen 192.168.126.2:5000"], &[Config, Infrastructure]),
    CommandExamples("serve", &["hardway serve --dir demo", "hardway serve --boot 192.168.126.2:8080 -o json"], &[Config, Infrastructure]),
    CommandExamples("status", &["hardway status --dir demo", "hardway status --watch", "hardway status --exit-code", "hardway status --why manifests/cluster-dns-02-config.yml", "hardway status --all -o json"], &[Config]),
    CommandExamples("validate", &["hardway validate --dir demo", "hardway validate -o json"], &[Config]),
    CommandExamples("validate schema", &["hardway validate schema inventory > inventory.schema.json", "hardway validate schema hosted-inventory"], &[]),
    CommandExamples("verify", &["hardway verify --dir demo", "hardway verify --list"], &[Config]),
    CommandExamples("version", &["hardway version", "hardway version -o json"], &[]),
    CommandExamples("wait-for bootstrap-complete", &["hardway wait-for bootstrap-complete --dir demo --timeout 45m"], &[Config, Bootstrap]),
    CommandExamples("wait-for install-complete", &["hardway wait-for install-complete --dir demo"], &[Config, Install, Stability]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            // `check` does something by itself too.
            if !sub.has_subcommands() || !sub.is_subcommand_required_set() {
                found.push(path.trim().to_owned());
            }
            leaves(sub, &path, found);
        }
    }

    #[test]
    fn every_command_has_a_row_and_every_row_a_command() {
        let mut commands = Vec::new();
        leaves(&Cli::command(), "", &mut commands);
        commands.sort_unstable();
        let rows: Vec<&str> = ROWS.iter().map(|CommandExamples(path, ..)| *path).collect();
        assert_eq!(rows, commands);
    }

    #[test]
    fn every_flag_and_every_word_says_what_it_is() {
        fn silent(command: &Command, found: &mut Vec<String>) {
            let arguments =
                command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_help().is_none());
            found.extend(arguments.map(|arg| format!("{} {}", command.get_name(), arg.get_id())));
            command.get_subcommands().for_each(|command| silent(command, found));
        }
        let mut found = Vec::new();
        silent(&Cli::command(), &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }

    /// What a shell does with the rest of the line is not ours.
    #[test]
    fn every_example_can_be_typed() {
        for CommandExamples(path, examples, _) in ROWS {
            for example in *examples {
                let typed = example.split(['>', '|']).next().unwrap_or_default();
                assert!(typed.starts_with(&format!("hardway {path}")), "{example}");
                let parsed = super::super::parse_from(typed.split_whitespace().map(Into::into).collect());
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }
}
