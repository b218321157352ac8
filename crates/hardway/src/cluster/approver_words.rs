//! What an approver tells, in the words of the command that runs it: one table, so that they do not drift apart unseen.

use hardway_cluster::approver::{CsrOutcome, News};

/// Which command runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApproverHost {
    /// `approve` and `certs recover`.
    Approve,
    /// `create cluster`.
    Install,
    /// `wait-for`.
    Wait,
}

/// A line about whatever is no decision; none where the command says so by itself.
pub(crate) fn approver_words(news: News<'_>, host: ApproverHost) -> Option<String> {
    use ApproverHost::{Approve, Install, Wait};
    Some(match (news, host) {
        (News::Leading, Approve) => {
            "approving certificate requests (this process holds the lease)".to_owned()
        }
        (News::Leading, Install) => "approver: active (this process holds the lease)".to_owned(),
        (News::Leading, Wait) => "Approving certificate requests (this process holds the lease)".to_owned(),
        (News::Following(holder), Approve) => {
            format!("{holder} holds the lease and approves; this process only watches")
        }
        (News::Following(holder), Install) => {
            format!("{holder} is approving certificates; this process only watches")
        }
        (News::Following(holder), Wait) => {
            format!("{holder} is approving certificates; this process takes over when it stops")
        }
        (News::Joined(node), Approve) => format!("host {node} has become a node"),
        (News::Joined(node), Install) => format!("{node} has become a node"),
        (News::Joined(node), Wait) => format!("Host {node} has become a node"),
        (News::Trouble(what), Approve) => format!("API server: {what}; retrying"),
        (News::Trouble(what), Install) => format!("approver: {what}; retrying"),
        // Whoever waits says so already.
        (News::Trouble(_), Wait) | (News::Decided(_), _) => return None,
    })
}

/// What happens while somebody approves, for the one who prints.
pub(crate) enum ApproverLine {
    Decided(Box<CsrOutcome>),
    Line(String),
    Warning(String),
}

impl ApproverLine {
    pub(crate) fn of(news: News<'_>) -> Self {
        let words = || approver_words(news, ApproverHost::Approve).unwrap_or_default();
        match news {
            News::Decided(outcome) => Self::Decided(Box::new(outcome.clone())),
            News::Leading | News::Following(_) | News::Joined(_) => Self::Line(words()),
            News::Trouble(_) => Self::Warning(words()),
        }
    }
}
