//! Google's program: whether somebody is logged in, and to which project.

use crate::check::{CheckedSite, NoAnswer, SHORT, ask_program};
use hardway_base::Judged;

// Google's program: whether somebody is logged in, and to which project.

pub(super) fn gcloud(site: &CheckedSite<'_>) -> Judged {
    let account =
        ask_program("gcloud", &["auth", "list", "--filter=status:ACTIVE", "--format=value(account)"], SHORT);
    let project = match site.setting("project") {
        Some(project) => Ok(project.to_owned()),
        None => ask_program("gcloud", &["config", "get-value", "project"], SHORT),
    };
    judge(&account, &project)
}

fn judge(account: &Result<String, NoAnswer>, project: &Result<String, NoAnswer>) -> Judged {
    let account = match account {
        Err(NoAnswer::Missing) => return Judged::not_applicable("gcloud is missing: see programs"),
        Err(why) => return Judged::refused(format!("gcloud auth list: {why}"), "gcloud auth login"),
        Ok(account) => account.trim(),
    };
    if account.is_empty() {
        return Judged::refused("not logged in to gcloud", "gcloud auth login");
    }
    match project.as_deref().map(str::trim) {
        Ok(project) if !project.is_empty() && project != "(unset)" => {
            Judged::passed(format!("{account} is logged in, project {project}"))
        }
        _ => Judged::refused(
            format!("{account} is logged in, but no project is chosen"),
            "set machines.gce.project in inventory.yaml, or: gcloud config set project PROJECT",
        ),
    }
}

#[cfg(test)]
mod tests {
    use hardway_base::Verdict;

    use super::*;

    #[test]
    fn a_login_and_a_project_are_needed() {
        let say = |text: &str| Ok(text.to_owned());
        let good = judge(&say("me@example.com\n"), &say("lab-1\n"));
        assert_eq!(good.seen, ["me@example.com is logged in, project lab-1"]);
        assert_eq!(judge(&say("\n"), &say("lab-1")).seen, ["not logged in to gcloud"]);
        let without = judge(&say("me@example.com"), &say("(unset)\n"));
        assert_eq!((without.verdict, without.seen[0].contains("no project")), (Verdict::Failed, true));
        assert_eq!(judge(&Err(NoAnswer::Missing), &say("")).verdict, Verdict::NotApplicable);
    }
}
