//! A list of actions as a script a person could run by hand.

use std::fmt::Write as _;

use hardway_base::hex;
use hardway_base::shell_word;
use sha2::{Digest as _, Sha256};

use super::{Action, ActionCheck, Program, Step};

/// Ends what a program reads in the script.
const END: &str = "END_OF_FILE";

const HEAD: &str = "#!/bin/bash
# Does by hand what `hardway infra up` does, for the same user. Each part checks first, so the script can be repeated; it changes nothing
# that is in place already. What it creates is yours: `hardway infra down` does not remove it.
set -euo pipefail
";

/// The script: what is looked at, what is done, and why.
pub fn shell(actions: &[Action]) -> String {
    let mut text = HEAD.to_owned();
    for action in actions {
        let _ = write!(text, "\n# {}: {}\nif ! {}; then\n", action.id, action.why, condition(&action.holds));
        for step in &action.does {
            let _ = writeln!(text, "  {}", readable(step));
        }
        text.push_str("fi\n");
    }
    text
}

/// What a program reads, or a file has in it, as it is rather than as a quoted word.
fn readable(step: &Step) -> String {
    match step {
        Step::WriteFile { path, mode, content } if can_follow(content) => {
            let path = shell_word(&path.display().to_string());
            format!("install -D -m {mode:04o} /dev/stdin {path} <<'{END}'\n{content}{END}")
        }
        Step::Run(Program { input: Some(input), program, arguments }) if can_follow(input) => {
            let program = Program::new(program, arguments);
            format!("{program} <<'{END}'\n{input}{END}")
        }
        step => step.to_string(),
    }
}

fn can_follow(text: &str) -> bool {
    text.ends_with('\n') && text.lines().all(|line| line != END)
}

fn condition(check: &ActionCheck) -> String {
    match check {
        ActionCheck::All(checks) if checks.is_empty() => "false".to_owned(),
        ActionCheck::All(checks) => {
            format!("{{ {}; }}", checks.iter().map(condition).collect::<Vec<_>>().join(" && "))
        }
        ActionCheck::FileIs { path, mode, content } => {
            let path = shell_word(&path.display().to_string());
            let sum = hex::encode(Sha256::digest(content));
            format!(
                "{{ [ \"$(stat -c %a {path} 2>/dev/null)\" = {mode:o} ] && \
                 sha256sum {path} 2>/dev/null | grep -qF {sum}; }}"
            )
        }
        ActionCheck::FolderExists { path } => format!("[ -d {} ]", shell_word(&path.display().to_string())),
        ActionCheck::Prints { program, line } => {
            // Read to its end: a program whose reader goes away early counts as failed.
            format!(
                "{program} 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- {} >/dev/null",
                shell_word(line)
            )
        }
        ActionCheck::PrintsSomething(program) => format!("{program} 2>/dev/null | grep . >/dev/null"),
        ActionCheck::Succeeds(program) => format!("{program} >/dev/null 2>&1"),
    }
}
