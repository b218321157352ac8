//! A list of actions as a script a person could run by hand.

use std::fmt::Write as _;

use hardway_assets::shell_word;

use super::{Action, Check};

/// The script: what is looked at, what is done, and why.
pub fn shell(actions: &[Action]) -> String {
    let mut text = "#!/bin/bash\nset -euo pipefail\n".to_owned();
    for action in actions {
        let _ = write!(text, "\n# {}: {}\nif ! {}; then\n", action.id, action.why, condition(&action.holds));
        for step in &action.does {
            let _ = writeln!(text, "{step}");
        }
        text.push_str("fi\n");
    }
    text
}

fn condition(check: &Check) -> String {
    match check {
        Check::All(checks) if checks.is_empty() => "false".to_owned(),
        Check::All(checks) => {
            format!("{{ {}; }}", checks.iter().map(condition).collect::<Vec<_>>().join(" && "))
        }
        Check::FileIs { path, mode, content } => {
            let path = shell_word(&path.display().to_string());
            format!(
                "{{ [ \"$(stat -c %a {path} 2>/dev/null)\" = {mode:o} ] && printf %s {} | cmp -s - {path}; }}",
                shell_word(content)
            )
        }
        Check::FolderExists { path } => format!("[ -d {} ]", shell_word(&path.display().to_string())),
        Check::Prints { program, line } => {
            // Read to its end: a program whose reader goes away early counts as failed.
            format!(
                "{program} 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- {} >/dev/null",
                shell_word(line)
            )
        }
        Check::PrintsSomething(program) => format!("{program} | grep . >/dev/null"),
        Check::Succeeds(program) => format!("{program} >/dev/null 2>&1"),
    }
}
