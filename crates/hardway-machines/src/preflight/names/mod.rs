//! DNS: at the servers that the hosts will use, and as this host resolves.
//!
//! ```text
//! Question, Answer      a message to a name server, and back      message.rs
//! ServerSeen            everything asked of one server            server_seen.rs
//! NamesSeen, Wanted     what should be, and what was said         names_seen.rs
//! judge_…()             pure                                      judgement.rs
//! Resolved              this host's own resolver                  host_resolver.rs
//! ```

mod host_resolver;
mod judgement;
mod message;
mod names_seen;
mod server_seen;
#[cfg(test)]
mod tests;

pub(super) use names_seen::NamesSeen;

use super::Judged;
use super::scene::Scene;

pub(super) fn server(scene: &Scene<'_>) -> Judged {
    judge(scene, judgement::judge_server)
}

pub(super) fn records(scene: &Scene<'_>) -> Judged {
    judge(scene, judgement::judge_records)
}

pub(super) fn apps(scene: &Scene<'_>) -> Judged {
    judge(scene, judgement::judge_apps)
}

pub(super) fn reverse(scene: &Scene<'_>) -> Judged {
    judge(scene, judgement::judge_reverse)
}

pub(super) fn search(scene: &Scene<'_>) -> Judged {
    judge(scene, judgement::judge_search)
}

pub(super) fn outside(scene: &Scene<'_>) -> Judged {
    judge(scene, judgement::judge_outside)
}

pub(super) fn host(scene: &Scene<'_>) -> Judged {
    if let Some(why) = scene.names_to_come() {
        return Judged::not_applicable(why);
    }
    let names = host_resolver::resolve_names(scene.site.cluster, scene.site.patience.answer);
    host_resolver::judge_host(&names)
}

fn judge(scene: &Scene<'_>, judge: fn(&NamesSeen) -> Judged) -> Judged {
    match scene.names_to_come() {
        Some(why) => Judged::not_applicable(why),
        None => with_file(scene, judge(scene.names())),
    }
}

/// Whoever runs the name server gets the records as a file, where there is one.
fn with_file(scene: &Scene<'_>, mut judged: Judged) -> Judged {
    let is_about_records = |fix: &String| fix.starts_with("add ");
    if let Some(fix) = judged.fix.as_mut().filter(|fix| is_about_records(fix))
        && scene.surroundings().prints_records
    {
        fix.push_str("; `hardway infra plan` prints all of them for dnsmasq");
    }
    judged
}
