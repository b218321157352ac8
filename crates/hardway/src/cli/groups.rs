//! The commands of the program's help, in groups: what a person wants to do.

use clap::Command;

/// What a person wants, and the commands for it; of some, a command below them.
struct CommandGroup(&'static str, &'static [&'static str]);

const GROUPS: [CommandGroup; 7] = [
    CommandGroup("Begin", &["init", "validate", "explain"]),
    CommandGroup(
        "Install",
        &["check", "plan", "create cluster", "status", "page", "wait-for", "phase", "destroy"],
    ),
    CommandGroup(
        "Make the parts by hand",
        &["create", "diff", "graph", "release", "media", "serve", "infra", "bmc"],
    ),
    CommandGroup("Look at a cluster", &["verify", "certs", "diagnose", "gather"]),
    CommandGroup("Keep and repair it", &["approve", "day2", "etcd", "node", "power"]),
    CommandGroup("Labs and hosted clusters", &["lab", "hosted"]),
    CommandGroup("This program", &["completion", "man", "version", "help"]),
];

/// The program with its commands in groups.
pub(super) fn grouped(program: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions of every command:\n{{options}}{{after-help}}",
        GROUPS.iter().map(|group| text(&program, group)).collect::<String>()
    );
    program.help_template(template)
}

fn text(program: &Command, CommandGroup(title, paths): &CommandGroup) -> String {
    let rows = paths.iter().map(|path| format!("  {path:15} {}\n", about(program, path)));
    format!("\n{title}:\n{}", rows.collect::<String>())
}

fn about(program: &Command, path: &str) -> String {
    if path == "help" {
        return "Print this message or the help of a command".to_owned();
    }
    let command = path.split(' ').try_fold(program, |command, word| command.find_subcommand(word));
    command.and_then(Command::get_about).map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let program = Cli::command();
        let mut commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        commands.push("help");
        commands.sort_unstable();
        let mut shown: Vec<&str> = GROUPS.iter().flat_map(|CommandGroup(_, paths)| *paths).copied().collect();
        shown.retain(|path| !path.contains(' '));
        shown.sort_unstable();
        assert_eq!(shown, commands);
    }

    #[test]
    fn every_row_says_what_it_is_for_in_a_line() {
        let program = Cli::command();
        for path in GROUPS.iter().flat_map(|CommandGroup(_, paths)| *paths) {
            let about = about(&program, path);
            assert!(!about.is_empty() && about.chars().count() <= 82, "{path}: {about}");
        }
    }
}
