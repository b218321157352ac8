//! `hardway completion`
//!
//! The scripts of bash, zsh and fish know nothing but how to ask this program: it is told the words of the line, and answers what may
//! stand in place of the last. So all three complete alike, and know the hosts of the folder that `--dir` names.

mod candidates;
mod names;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::{Cli, CompletionArgs};
use crate::report::{Exit, Report};
use crate::terminal::Output;
use candidates::{Candidate, Completion, answer};

/// The completion script of a shell; or, with words, what may stand in place of the last.
pub(crate) fn run(args: &CompletionArgs, out: &Output) -> Result<Exit, Report> {
    match &args.words[..] {
        [] => out.data(&script(args.shell)),
        words => out.data(&told(&answer(words), args.shell)),
    }
    Ok(Exit::Done)
}

fn script(shell: Shell) -> String {
    match shell {
        Shell::Bash => include_str!("hardway.bash").to_owned(),
        Shell::Zsh => include_str!("hardway.zsh").to_owned(),
        Shell::Fish => include_str!("hardway.fish").to_owned(),
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut Cli::command(), "hardway", &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
    }
}

/// A line each, as the shell's script reads it. No candidate begins with a colon.
fn told(answer: &Completion, shell: Shell) -> String {
    let line = |Candidate { word, about }: &Candidate| match shell {
        Shell::Zsh => format!("{}:{about}\n", word.replace(':', "\\:")),
        Shell::Fish => format!("{word}\t{about}\n"),
        _ => format!("{word}\n"),
    };
    match answer {
        Completion::Files => ":files\n".to_owned(),
        Completion::Folders => ":folders\n".to_owned(),
        Completion::Words(candidates) => candidates.iter().map(line).collect(),
    }
}
