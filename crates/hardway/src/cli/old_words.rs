//! Commands that were called otherwise before: still understood, so that scripts go on, but neither in the help nor completed.

use std::ffi::OsString;

use super::command;

/// What it was called, and what it is called today.
const OLD_WORDS: [(&[&str], &[&str]); 6] = [
    (&["csr", "declared"], &["approve", "declared"]),
    (&["csr", "simulate"], &["approve", "simulate"]),
    (&["off"], &["power", "off"]),
    (&["on"], &["power", "on"]),
    (&["recover", "certs"], &["certs", "recover"]),
    (&["schema"], &["validate", "schema"]),
];

/// Commands whose words are names of commands.
const ABOUT_COMMANDS: [&str; 2] = ["help", "man"];

/// The same command line in today's words.
pub(super) fn as_today(mut args: Vec<OsString>) -> Vec<OsString> {
    if !has_old_word(&args) {
        return args;
    }
    let words = words(&args);
    let is = |place: &usize, word: &str| args[*place] == *word;
    let skipped = words.first().filter(|first| ABOUT_COMMANDS.iter().any(|word| is(first, word))).is_some();
    let words = &words[usize::from(skipped)..];
    let found = OLD_WORDS.iter().find(|(old, _)| {
        old.len() <= words.len() && old.iter().zip(words).all(|(word, place)| is(place, word))
    });
    // Of a group that is gone, its help is wanted: it is where its commands went.
    let asks = skipped || args.iter().any(|arg| arg == "--help" || arg == "-h");
    let group = |(old, _): &&(&[&str], &[&str])| asks && words.len() == 1 && is(&words[0], old[0]);
    let (old, today): (&[&str], &[&str]) = match (found, OLD_WORDS.iter().find(group)) {
        (Some((old, today)), _) => (old, today),
        (None, Some((old, today))) => (&old[..1], &today[..1]),
        (None, None) => return args,
    };
    let (first, rest) = (words[0], &words[1..old.len()]);
    rest.iter().rev().for_each(|place| drop(args.remove(*place)));
    args.splice(first..=first, today.iter().map(OsString::from));
    args
}

/// Where the commands of a group went that is named without one of them.
pub(super) fn moved(args: &[OsString]) -> Option<String> {
    if !has_old_word(args) {
        return None;
    }
    let group = match words(args)[..] {
        [only] => args[only].to_str()?,
        _ => return None,
    };
    let of_group = OLD_WORDS.iter().filter(|(old, _)| old.len() > 1 && old[0] == group);
    let today: Vec<String> = of_group.map(|(_, today)| format!("`hardway {}`", today.join(" "))).collect();
    (!today.is_empty())
        .then(|| format!("`hardway {group}` is no command by itself: try {}", today.join(" or ")))
}

/// A command's name in today's words.
pub(crate) fn name_today(name: &str) -> String {
    let args = std::iter::once("hardway").chain(name.split(' ')).map(OsString::from).collect();
    let today = as_today(args);
    today[1..].iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Whether there is anything to look at: to know which words name a command takes the whole command line.
fn has_old_word(args: &[OsString]) -> bool {
    args.iter().any(|arg| OLD_WORDS.iter().any(|(old, _)| *arg == *old[0]))
}

/// Where the words are that are neither flags nor their values, up to the second or third: those that name a command.
fn words(args: &[OsString]) -> Vec<usize> {
    let program = command();
    let takes_value = |word: &str| {
        let flag = program.get_arguments().find(|arg| word.strip_prefix("--") == arg.get_long());
        flag.is_some_and(|arg| arg.get_action().takes_values())
    };
    let mut found = Vec::new();
    let mut place = 1;
    while place < args.len() && found.len() < 3 {
        let word = args[place].to_string_lossy();
        match &*word {
            "--" => break,
            flag if flag.starts_with('-') => place += usize::from(takes_value(flag)),
            _ => found.push(place),
        }
        place += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn today(line: &str) -> String {
        let args = as_today(line.split(' ').map(OsString::from).collect());
        args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_was_typed_before_is_still_understood() {
        for (typed, meant) in [
            ("hardway csr declared", "hardway approve declared"),
            (
                "hardway --dir csr -q csr simulate x.yaml -o json",
                "hardway --dir csr -q approve simulate x.yaml -o json",
            ),
            ("hardway csr --dir=x simulate x.yaml", "hardway approve simulate --dir=x x.yaml"),
            ("hardway off --without-backup", "hardway power off --without-backup"),
            ("hardway --log-level debug on", "hardway --log-level debug power on"),
            ("hardway recover certs --timeout 45m", "hardway certs recover --timeout 45m"),
            ("hardway schema inventory", "hardway validate schema inventory"),
            ("hardway help csr simulate", "hardway help approve simulate"),
            ("hardway man schema", "hardway man validate schema"),
            ("hardway recover --help", "hardway certs --help"),
            ("hardway help csr", "hardway help approve"),
        ] {
            assert_eq!(today(typed), meant, "{typed}");
            let args = meant.split(' ').map(OsString::from).collect();
            let is_help = meant.contains("help");
            assert!(is_help || super::super::parse_from(args).is_ok(), "{meant}");
        }
    }

    #[test]
    fn a_group_that_is_gone_says_where_its_commands_are() {
        let moved = |line: &str| moved(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let told = moved("hardway --dir demo csr").unwrap();
        assert!(told.contains("`hardway approve declared` or `hardway approve simulate`"), "{told}");
        assert!(
            moved("hardway recover").is_some()
                && moved("hardway off").is_none()
                && moved("hardway").is_none()
        );
        assert_eq!(
            (name_today("recover certs").as_str(), name_today("etcd").as_str()),
            ("certs recover", "etcd")
        );
    }

    /// `hardway csr` approved nothing before, and must not now.
    #[test]
    fn nothing_else_is_touched() {
        for line in [
            "hardway csr",
            "hardway recover",
            "hardway explain off",
            "hardway status --dir on",
            "hardway explain -- off",
            "hardway",
        ] {
            assert_eq!(today(line), line);
        }
    }

    #[test]
    fn old_words_are_no_words_of_today_and_todays_are() {
        let program = command();
        for (old, today) in OLD_WORDS {
            assert!(
                program
                    .find_subcommand(old[0])
                    .is_none_or(|group| old.get(1).is_some_and(|word| group.find_subcommand(word).is_none())),
                "{old:?}"
            );
            let found = today.iter().try_fold(&program, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "{today:?}");
        }
    }
}
