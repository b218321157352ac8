//! Commands of ours in what people read: each can be typed. Looked at wherever a build with debug assertions says one while
//! `HARDWAY_CHECK_ADVICE` is set, as the tests' harness does: every test that makes the program speak looks too.

use std::sync::{LazyLock, Mutex, PoisonError};

use clap::Command;
use clap::error::ErrorKind;

use super::advice::may_begin_after;
use super::command;

static PROGRAM: LazyLock<Mutex<Command>> = LazyLock::new(|| Mutex::new(command()));

/// The first command of ours in a text that the program would not take, and why.
pub(super) fn wrong(text: &str) -> Option<String> {
    if !text.contains("hardway ") {
        return None;
    }
    let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
    let mut before = "";
    for part in text.split("hardway ") {
        if may_begin_after(before) && part.as_ptr() != text.as_ptr() {
            let is_quoted = before.ends_with('`');
            let end: &[char] = if is_quoted { &['`'] } else { &['`', ';', '\n'] };
            let typed = part.split(end).next().unwrap_or_default();
            if let Some(why) = wrong_words(&mut program, &words(typed), is_quoted) {
                return Some(format!("hardway {typed}: {why}"));
            }
        }
        before = part;
    }
    None
}

/// Prose may follow a command that is not quoted, so only flags of it must be right; of a quoted one, everything.
fn wrong_words(program: &mut Command, words: &[String], is_quoted: bool) -> Option<String> {
    let is_verb = |word: &String| program.find_subcommand(word).is_some() || word == "help";
    let begins = words.first().is_some_and(is_verb);
    if !begins {
        let is_open = words.first().is_none_or(|word| word.starts_with('-') || is_placeholder(word));
        return (is_quoted && !is_open).then(|| "no such command".to_owned());
    }
    let mut longest = 1;
    for count in 1..=words.len() {
        match refusal(program, &words[..count]) {
            None => longest = count,
            Some(why) if is_quoted && count == words.len() => return Some(why),
            // Its value may be the next word.
            Some(_) => {}
        }
    }
    let next = words.get(longest).filter(|word| word.starts_with('-') && word.len() > 1)?;
    Some(format!("{next} is no flag of it"))
}

fn refusal(program: &mut Command, words: &[String]) -> Option<String> {
    let line = std::iter::once("hardway").chain(words.iter().map(String::as_str));
    let error = program.try_get_matches_from_mut(line).err()?;
    match error.kind() {
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelp
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::DisplayVersion => None,
        // A flag that is spoken of, without its value.
        ErrorKind::InvalidValue if words.last().is_some_and(|word| word.starts_with('-')) => None,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation
            if words.iter().any(|word| is_placeholder(word)) =>
        {
            None
        }
        kind => Some(kind.to_string()),
    }
}

/// As a shell would split it; an ellipsis stands for more of the same.
fn words(typed: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in typed.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if c.is_whitespace() => words.push(String::new()),
            (_, c) => words.last_mut().expect("there is always one").push(c),
        }
    }
    let mut ends = false;
    words.retain_mut(|word| {
        let keeps = !ends && !word.is_empty() && !matches!(word.as_str(), "…" | "..." | "|" | ">" | "&&");
        // Behind these nothing belongs to the command any more.
        ends |= word.ends_with([',', ':', ')', '.']) && word.len() > 1
            || matches!(word.as_str(), "|" | ">" | "&&");
        if word.len() > 1 {
            *word = word.trim_end_matches([',', ':', ')', '.']).to_owned();
        }
        keeps && !word.is_empty()
    });
    words
}

/// `NAME`, `HOST.iso`, `<name>`.
fn is_placeholder(word: &str) -> bool {
    word.contains('<') || word.chars().filter(char::is_ascii_uppercase).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_cannot_be_typed_are_found() {
        for wrong_one in [
            "run `hardway conquer`",
            "hardway certs recover --watch does it",
            "see `hardway status --exit-cod`",
            "`hardway node add a b c`",
            "hardway node remove worker-0 --no-such; hardway status",
        ] {
            assert!(wrong(wrong_one).is_some(), "{wrong_one}");
        }
        for right in [
            "hardway then keeps it",
            "make it with `hardway create ignition-configs`, and look",
            "hardway create manifests fetches it",
            "hardway approve --watch; hardway diagnose --all",
            "`hardway explain CODE` says more",
            "`hardway node add NAME`",
            "mkdir -p x && hardway init --dir 'my cluster'",
            "/usr/bin/hardway nothing",
            "hardway check --skip-check NAME, and then all of it",
            "hardway create cluster --dir .",
            "turn it off: `hardway serve --boot`",
        ] {
            assert_eq!(wrong(right), None, "{right}");
        }
    }

    #[test]
    fn explanations_name_only_what_can_be_typed() {
        let mut looked_at = 0;
        let mut found = Vec::new();
        for (_, page) in crate::explanations::texts() {
            // Of the prose only what is quoted.
            for quoted in page.split("`hardway ").skip(1) {
                looked_at += 1;
                found.extend(wrong(&format!("`hardway {}`", quoted.split('`').next().unwrap_or_default())));
            }
        }
        assert!(found.is_empty(), "{found:#?}");
        assert!(looked_at > 30, "{looked_at}");
    }
}
