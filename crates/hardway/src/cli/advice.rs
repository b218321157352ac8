//! Advice that can be typed as it stands: commands in it name the folder that this one was given.

use std::path::Path;

use clap::CommandFactory as _;
use hardway_base::shell_word;

use super::Cli;
#[cfg(debug_assertions)]
use super::advised_commands;

/// These need no folder.
const FOLDERLESS: [&str; 5] = ["completion", "explain", "help", "man", "version"];

/// The same text, with `--dir` in every command of ours, where a folder was given.
pub(crate) fn in_folder(text: &str, dir: &Path) -> String {
    // Only in tests: people's own words may look like a command of ours.
    #[cfg(debug_assertions)]
    if std::env::var_os("HARDWAY_CHECK_ADVICE").is_some()
        && let Some(wrong) = advised_commands::wrong(text)
    {
        panic!("advice that cannot be typed: {wrong}");
    }
    if dir == Path::new(".") || !text.contains("hardway ") {
        return text.to_owned();
    }
    let program = Cli::command();
    let verbs: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    let takes_folder = |verb: &str| verbs.contains(&verb) && !FOLDERLESS.contains(&verb);
    let dir = shell_word(&dir.display().to_string());
    let mut parts = text.split("hardway ");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_command = may_begin_after(&told);
        let verb: String = part.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        let rest = part.split(['`', ';', '\n']).next().unwrap_or_default();
        told += "hardway ";
        if is_command && takes_folder(&verb) && !rest.contains("--dir ") {
            told += &format!("--dir {dir} ");
        }
        told += part;
    }
    told
}

/// Whether `hardway` begins a command there, and is not the end of a path or of another word.
pub(super) fn may_begin_after(text: &str) -> bool {
    !text.ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_ours_name_the_folder_and_nothing_else_does() {
        let told = |text: &str| in_folder(text, Path::new("my cluster"));
        for (text, expected) in [
            (
                "make it with `hardway create ignition-configs`",
                "make it with `hardway --dir 'my cluster' create ignition-configs`",
            ),
            (
                "hardway approve --rejoin x; hardway approve",
                "hardway --dir 'my cluster' approve --rejoin x; hardway --dir 'my cluster' approve",
            ),
            ("more: hardway explain E-1", "more: hardway explain E-1"),
            ("hardway then keeps it", "hardway then keeps it"),
            ("hardway init --dir there", "hardway init --dir there"),
            ("hardway's own", "hardway's own"),
        ] {
            assert_eq!(told(text), expected);
        }
        assert_eq!(in_folder("hardway approve", Path::new(".")), "hardway approve");
        assert_eq!(in_folder("hardway approve", Path::new("/srv/ocp4")), "hardway --dir /srv/ocp4 approve");
    }
}
