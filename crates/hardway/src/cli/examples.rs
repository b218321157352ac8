//! What stands below the help of every command: examples that work as they stand, and the codes it can end with.

use clap::{Command, CommandFactory as _};

use super::Cli;

/// A command, its examples, and its exit codes beyond 0 (done), 1 (an error that none of the others is) and 2 (a wrong
/// command line).
struct Row(&'static str, &'static [&'static str], &'static [u8]);

/// Every command, with examples and exit codes in its help.
pub(crate) fn command() -> Command {
    let all = format!("Exit codes, those of openshift-install where it has them:\n{}", meanings(|_| true));
    let program = Cli::command().after_long_help(all);
    ROWS.iter().fold(program, |program, Row(path, examples, codes)| {
        let words: Vec<&str> = path.split(' ').collect();
        below(program, &words, &text(examples, codes))
    })
}

fn below(command: Command, words: &[&str], text: &str) -> Command {
    match words {
        [] => command.after_long_help(text.to_owned()),
        [word, rest @ ..] => command.mut_subcommand(*word, |command| below(command, rest, text)),
    }
}

fn text(examples: &[&str], codes: &[u8]) -> String {
    let title = if examples.len() == 1 { "Example" } else { "Examples" };
    let mut text = format!("{title}:\n");
    examples.iter().for_each(|example| text += &format!("  {example}\n"));
    text + "\nExit codes:\n" + &meanings(|code| code <= 2 || codes.contains(&code))
}

fn meanings(is_wanted: impl Fn(u8) -> bool) -> String {
    let wanted = CODES.iter().filter(|(code, _)| is_wanted(*code));
    wanted.map(|(code, meaning)| format!("  {code}  {meaning}")).collect::<Vec<_>>().join("\n")
}

const CODES: [(u8, &str); 10] = [
    (0, "done"),
    (1, "an error that none of the others is"),
    (
        2,
        "a wrong command line, a failed check before the install, or a file that the command line names and that cannot be used",
    ),
    (3, "install-config.yaml, inventory.yaml or auth/kubeconfig of the folder is missing or wrong"),
    (4, "machines, networks, install media, serving"),
    (5, "bootstrapping did not complete"),
    (6, "the cluster did not initialize"),
    (7, "operators did not come to rest"),
    (8, "a person ended it (Ctrl-C)"),
    (9, "something waits for a person"),
];

const INSTALL: &[u8] = &[3, 4, 5, 6, 7, 8, 9];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row("approve", &["hardway approve --dry-run", "hardway approve --watch --dir demo"], &[3, 8, 9]),
    Row("bmc boot-once-cd", &["hardway bmc boot-once-cd --host master-0"], &[3, 4]),
    Row("bmc boot-once-pxe", &["hardway bmc boot-once-pxe --host master-0"], &[3, 4]),
    Row("bmc by-hand", &["hardway bmc by-hand", "hardway bmc by-hand --host worker-0"], &[3, 9]),
    Row("bmc eject", &["hardway bmc eject --host master-0"], &[3, 4]),
    Row("bmc insert", &["hardway bmc insert --host master-0"], &[3, 4]),
    Row("bmc power-off", &["hardway bmc power-off --host master-0"], &[3, 4]),
    Row("bmc power-on", &["hardway bmc power-on --host master-0"], &[3, 4]),
    Row("bmc seen", &["hardway bmc seen --host master-0"], &[3, 9]),
    Row("bmc status", &["hardway bmc status --host master-0 -o json"], &[3, 4]),
    Row("check", &["hardway check --dir demo", "hardway check --only names-apps", "hardway check --skip-check disk-latency", "hardway check --list"], &[3]),
    Row("completion", &["hardway completion bash > /etc/bash_completion.d/hardway"], &[]),
    Row("create cluster", &["hardway create cluster --dir demo", "hardway create cluster --skip-check disk-latency"], INSTALL),
    Row("create ignition-configs", &["hardway create ignition-configs --dir demo", "hardway create ignition-configs --dry-run"], &[3]),
    Row("create install-config", &["hardway create install-config --dir demo --provider bare-metal"], &[]),
    Row("create manifests", &["hardway create manifests --dir demo", "hardway create manifests --dry-run"], &[3]),
    Row("create single-node-ignition-config", &["hardway create single-node-ignition-config --dir demo"], &[3]),
    Row("csr declared", &["hardway csr declared > declared.yaml"], &[3]),
    Row("csr simulate", &["hardway csr simulate requests.yaml", "hardway csr simulate requests.yaml --node nodes.yaml --as-pending"], &[3]),
    Row("destroy", &["hardway destroy --dir demo", "hardway destroy --keep-images"], &[4]),
    Row("diagnose", &["hardway diagnose --dir demo", "hardway diagnose --bundle log-bundle.tar.gz --all", "hardway diagnose --list"], &[3, 8]),
    Row("diff", &["hardway diff --dir demo --against openshift-install-dir"], &[3]),
    Row("explain", &["hardway explain etcd-signer", "hardway explain machines.bare-metal.interface", "hardway explain --etcd-prefix -o json", "hardway explain stage 7"], &[]),
    Row("gather bootstrap", &["hardway gather bootstrap --dir demo", "hardway gather bootstrap --bootstrap 192.168.126.100 --key id_ed25519"], &[3, 8]),
    Row("graph", &["hardway graph -o mermaid", "hardway graph | dot -Tsvg > graph.svg"], &[3]),
    Row("hosted cluster create", &["hardway hosted cluster create guest --external-api-server-address 192.168.126.10 --release-image quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --pull-secret pull-secret.json"], &[3, 8]),
    Row("hosted cluster delete", &["hardway hosted cluster delete guest"], &[3, 8]),
    Row("hosted cluster kubeconfig", &["hardway hosted cluster kubeconfig guest > guest.kubeconfig"], &[3]),
    Row("hosted cluster render", &["hardway hosted cluster render guest --external-api-server-address 192.168.126.10 --release-image quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --pull-secret pull-secret.json"], &[3]),
    Row("hosted cluster status", &["hardway hosted cluster status guest -o json"], &[3]),
    Row("hosted controller", &["hardway hosted controller --cluster guest --dir workers"], &[3, 4, 8]),
    Row("hosted doctor", &["hardway hosted doctor --cluster guest --log worker-0-console.log"], &[3]),
    Row("hosted nodepool create", &["hardway hosted nodepool create pool-a --cluster guest --replicas 2"], &[3, 8, 9]),
    Row("hosted nodepool delete", &["hardway hosted nodepool delete pool-a --cluster guest"], &[3]),
    Row("hosted nodepool list", &["hardway hosted nodepool list --cluster guest"], &[3]),
    Row("hosted nodepool status", &["hardway hosted nodepool status pool-a --cluster guest"], &[3, 9]),
    Row("hosted ovn", &["hardway hosted ovn --cluster guest", "hardway hosted ovn --cluster guest --fix"], &[3, 9]),
    Row("hosted stand-in", &["hardway hosted stand-in --cluster guest --pool pool-a --config worker.ign --ignition-server 192.168.126.2:22624 --ignition-ca ca.crt"], &[3, 8]),
    Row("hosted workers add", &["hardway hosted workers add --cluster guest --pool pool-a -n 2 --dir workers"], &[3, 4, 8, 9]),
    Row("hosted workers list", &["hardway hosted workers list --cluster guest --dir workers"], &[3]),
    Row("hosted workers remove", &["hardway hosted workers remove worker-0 --cluster guest --dir workers"], &[3, 4, 8, 9]),
    Row("hosted workers replace", &["hardway hosted workers replace worker-0 --cluster guest --dir workers"], &[3, 4, 8, 9]),
    Row("hosted workers scale", &["hardway hosted workers scale 3 --cluster guest --pool pool-a --dir workers"], &[3, 4, 8, 9]),
    Row("infra down", &["hardway infra down --dir demo"], &[4]),
    Row("infra plan", &["hardway infra plan --dir demo", "hardway infra plan -o script > by-hand.sh"], &[3, 4]),
    Row("infra status", &["hardway infra status --dir demo"], &[3, 4]),
    Row("infra up", &["hardway infra up --dir demo"], &[3, 4]),
    Row("init", &["hardway init --dir demo --provider bare-metal", "hardway init --provider lab --masters 1 --workers 0"], &[]),
    Row("lab logs", &["hardway lab logs master-0 -- -u kubelet -f"], &[3, 4]),
    Row("lab run", &["hardway lab run -- kubectl get nodes"], &[3, 4]),
    Row("lab shell", &["hardway lab shell master-0"], &[3, 4]),
    Row("man", &["hardway man check | man -l -", "hardway man --to /usr/local/share/man/man1"], &[]),
    Row("media embed", &["hardway media embed rhcos-live.iso --to mine.iso --live-karg-append console=ttyS0"], &[4]),
    Row("media iso", &["hardway media iso --all", "hardway media iso --host master-0 --iso rhcos-live.iso"], &[3, 4]),
    Row("media limits", &["hardway media limits -o json"], &[3]),
    Row("media pxe", &["hardway media pxe --url http://192.168.126.2:8080"], &[3, 4]),
    Row("media remove", &["hardway media remove media/master-0.iso --to plain.iso"], &[4]),
    Row("media serve", &["hardway media serve --listen 192.168.126.2:8080"], &[3, 4, 8]),
    Row("media show", &["hardway media show media/master-0.iso"], &[4]),
    Row("node add", &["hardway node add worker-2 --dir demo"], INSTALL),
    Row("node remove", &["hardway node remove worker-2 --dir demo"], &[3, 4, 6, 8, 9]),
    Row("node replace", &["hardway node replace master-1", "hardway node replace master-1 --apply"], INSTALL),
    Row("phase explain", &["hardway phase explain make-pki"], &[]),
    Row("phase list", &["hardway phase list -o json"], &[]),
    Row("phase redo", &["hardway phase redo await-bootstrap --dir demo"], INSTALL),
    Row("phase run", &["hardway phase run build-infra --dir demo"], INSTALL),
    Row("plan", &["hardway plan --dir demo", "hardway plan -o json"], &[3, 4]),
    Row("recover certs", &["hardway recover certs --dry-run", "hardway recover certs --server https://192.168.126.101:6443"], &[3, 8, 9]),
    Row("release extract", &["hardway release extract quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --to release-4.18.1", "hardway release extract quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --command oc"], &[3]),
    Row("release info", &["hardway release info quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64"], &[3]),
    Row("release media", &["hardway release media --format iso --to media", "hardway release media quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64"], &[3]),
    Row("release mirror", &["hardway release mirror quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64 --to registry.example.com/ocp", "hardway release mirror --from-dir carried --to registry.example.com/ocp"], &[3, 8]),
    Row("schema", &["hardway schema inventory > inventory.schema.json"], &[]),
    Row("serve", &["hardway serve --dir demo", "hardway serve --boot 192.168.126.2:8080 -o json"], &[3, 4, 8]),
    Row("status", &["hardway status --dir demo", "hardway status --watch", "hardway status --all -o json"], &[3, 8]),
    Row("validate", &["hardway validate --dir demo", "hardway validate -o json"], &[3]),
    Row("verify", &["hardway verify --dir demo", "hardway verify --list"], &[3, 8]),
    Row("wait-for bootstrap-complete", &["hardway wait-for bootstrap-complete --dir demo --timeout 45m"], &[3, 5, 8]),
    Row("wait-for install-complete", &["hardway wait-for install-complete --dir demo"], &[3, 6, 7, 8]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            match sub.has_subcommands() {
                true => leaves(sub, &path, found),
                false => found.push(path.trim().to_owned()),
            }
        }
    }

    #[test]
    fn every_command_has_a_row_and_every_row_a_command() {
        let mut commands = Vec::new();
        leaves(&Cli::command(), "", &mut commands);
        commands.sort_unstable();
        let rows: Vec<&str> = ROWS.iter().map(|Row(path, ..)| *path).collect();
        assert_eq!(rows, commands);
    }

    /// What a shell does with the rest of the line is not ours.
    #[test]
    fn every_example_can_be_typed() {
        for Row(path, examples, _) in ROWS {
            for example in *examples {
                let typed = example.split(['>', '|']).next().unwrap_or_default();
                assert!(typed.starts_with(&format!("hardway {path}")), "{example}");
                let parsed = super::super::parse_from(typed.split_whitespace().map(Into::into).collect());
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }
}
