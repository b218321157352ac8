//! What may stand in place of the last word of a line.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};

use super::names::names;
use crate::cli;

/// What the shell offers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// Any file, which the shell knows best.
    Files,
    Folders,
    Words(Vec<Candidate>),
}

/// A word, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) word: String,
    /// In a line, for shells that show it.
    pub(super) about: String,
}

impl Candidate {
    pub(super) fn new(word: impl Into<String>, about: impl Into<String>) -> Self {
        let about: String = about.into();
        Self { word: word.into(), about: about.lines().next().unwrap_or_default().to_owned() }
    }
}

/// For the words behind the program's name, as they were typed; the last may be empty.
pub(super) fn answer(words: &[String]) -> Completion {
    let words: Vec<String> = words.iter().map(|word| unquoted(word)).collect();
    let Some((last, before)) = words.split_last() else { return Completion::Words(Vec::new()) };
    let mut program = cli::command();
    program.build();
    let line = Line::read(&program, before);
    if let Some(arg) = line.pending {
        return line.values(arg, last, "");
    }
    if let Some((flag, value)) =
        last.split_once('=').filter(|(flag, _)| flag.starts_with("--") && !line.is_past_flags)
    {
        let arg = long(line.command, flag.trim_start_matches('-'));
        return arg.map_or(Completion::Words(Vec::new()), |arg| line.values(arg, value, &format!("{flag}=")));
    }
    if last.starts_with('-') && !line.is_past_flags {
        return Completion::Words(beginning(line.flags(), last));
    }
    let commands = line.commands();
    if !commands.is_empty() {
        return Completion::Words(beginning(commands, last));
    }
    match line.positional() {
        Some(arg) => line.values(arg, last, ""),
        None if line.words > 0 => Completion::Words(Vec::new()),
        None => Completion::Words(beginning(line.flags(), last)),
    }
}

/// What stands before the last word.
struct Line<'p> {
    command: &'p Command,
    /// `media iso`.
    path: String,
    /// The flag whose value comes next.
    pending: Option<&'p Arg>,
    /// Words that are neither commands nor flags.
    words: usize,
    /// Behind `--`.
    is_past_flags: bool,
    dir: PathBuf,
}

impl<'p> Line<'p> {
    fn read(program: &'p Command, before: &[String]) -> Self {
        let dir = std::env::var_os("HARDWAY_DIR").filter(|dir| !dir.is_empty());
        let mut line = Self {
            command: program,
            path: String::new(),
            pending: None,
            words: 0,
            is_past_flags: false,
            dir: dir.map_or_else(|| PathBuf::from("."), PathBuf::from),
        };
        before.iter().for_each(|word| line.take(word));
        line
    }

    fn take(&mut self, word: &str) {
        if let Some(arg) = self.pending.take() {
            self.note(arg, word);
        } else if self.is_past_flags {
            self.words += 1;
        } else if word == "--" {
            self.is_past_flags = true;
        } else if let Some(flag) = word.strip_prefix("--") {
            match flag.split_once('=') {
                Some((flag, value)) => {
                    long(self.command, flag).into_iter().for_each(|arg| self.note(arg, value))
                }
                None => self.pending = long(self.command, flag).filter(|arg| takes_next(arg)),
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let letter = letters.chars().next_back();
            let mut arguments = self.command.get_arguments();
            self.pending = arguments.find(|arg| arg.get_short() == letter && takes_next(arg));
        } else if let Some(below) = self.command.find_subcommand(word).filter(|_| self.words == 0) {
            self.command = below;
            self.path = format!("{} {word}", self.path).trim().to_owned();
        } else {
            self.words += 1;
        }
    }

    fn note(&mut self, arg: &Arg, value: &str) {
        if arg.get_id() == "dir" {
            self.dir = PathBuf::from(value);
        }
    }

    fn flags(&self) -> Vec<Candidate> {
        let arguments = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
        let flag = |arg: &Arg| Some(Candidate::new(format!("--{}", arg.get_long()?), help(arg)));
        arguments.filter_map(flag).collect()
    }

    fn commands(&self) -> Vec<Candidate> {
        if self.words > 0 || self.is_past_flags {
            return Vec::new();
        }
        let commands = self.command.get_subcommands().filter(|command| !command.is_hide_set());
        let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
        commands.map(|command| Candidate::new(command.get_name(), about(command))).collect()
    }

    /// The last one takes all that follow, if it takes several.
    fn positional(&self) -> Option<&'p Arg> {
        let all: Vec<&Arg> = self.command.get_positionals().filter(|arg| !arg.is_hide_set()).collect();
        let last = all.last().filter(|arg| matches!(arg.get_action(), ArgAction::Append));
        all.get(self.words).or(last).copied()
    }

    /// Those that the argument may have and that begin so; with what stands before the value in the same word.
    fn values(&self, arg: &Arg, begin: &str, prefix: &str) -> Completion {
        let possible = arg.get_possible_values();
        let words = if possible.is_empty() {
            names(&self.path, arg.get_id().as_str(), &self.dir)
        } else {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            let about = |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string);
            Some(
                shown
                    .map(|value| Candidate::new(value.get_name(), about(value).unwrap_or_default()))
                    .collect(),
            )
        };
        if let Some(words) = words {
            let mut found = beginning(words, begin);
            found.iter_mut().for_each(|candidate| candidate.word.insert_str(0, prefix));
            return Completion::Words(found);
        }
        let value_name =
            arg.get_value_names().and_then(|names| names.first()).map(clap::builder::Str::as_str);
        match value_name {
            Some("DIR") => Completion::Folders,
            Some("FILE" | "ISO") => Completion::Files,
            _ => Completion::Words(Vec::new()),
        }
    }
}

fn long<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(name))
}

/// Whether the next word is its value.
fn takes_next(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

fn beginning(mut candidates: Vec<Candidate>, begin: &str) -> Vec<Candidate> {
    candidates.retain(|candidate| candidate.word.starts_with(begin));
    candidates
}

/// As the shell will hand it over: `'my cluster'` and `my\ cluster` are one folder.
fn unquoted(word: &str) -> String {
    let mut plain = String::new();
    let (mut quote, mut chars) = (None, word.chars());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => plain.extend(chars.next()),
            (_, c) => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let typed: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match answer(&typed) {
            Completion::Words(candidates) => candidates.into_iter().map(|candidate| candidate.word).collect(),
            other => vec![format!("{other:?}")],
        }
    }

    #[test]
    fn commands_flags_values_and_names_are_offered() {
        for (line, offered) in [
            ("cre", &["create"][..]),
            ("create ign", &["ignition-configs"]),
            ("--dir x phase r", &["redo", "run"]),
            ("status --exi", &["--exit-code"]),
            ("--color ne", &["never"]),
            ("status --color=ne", &["--color=never"]),
            ("status -o j", &["json"]),
            ("phase run make-k", &["make-kubeconfigs"]),
            ("check --only names-ap", &["names-apps"]),
            ("create cluster --skip-check disk-l", &["disk-latency"]),
            ("verify --skip-check worklo", &["workload"]),
            ("explain etcd-sign", &["etcd-signer"]),
            ("explain rendered-no", &["rendered-nodes"]),
            ("explain HARDWAY_D", &["HARDWAY_DIR"]),
            ("init --provider bare", &["bare-metal"]),
            ("man approve sim", &["simulate"]),
            ("create manifests --release-dir ", &["Folders"]),
            ("media show ", &["Files"]),
            ("approve simulate a --node ", &["Files"]),
            ("status nothing-here", &[]),
        ] {
            assert_eq!(words(line), offered, "{line}");
        }
        assert!(words("").contains(&"create".to_owned()));
        assert!(!words("completion ").is_empty());
    }

    #[test]
    fn quotes_are_the_shells() {
        for typed in ["'my cluster'", "\"my cluster\"", "my\\ cluster", "'my cluster"] {
            assert_eq!(unquoted(typed), "my cluster");
        }
    }
}
