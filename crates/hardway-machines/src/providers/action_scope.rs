//! What an action belongs to: the first word of its name says so.

/// Those that are taken up, changed or taken back by what they belong to. Whatever else there is (network, storage, images) stays
/// until all of it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionScope<'h> {
    /// What answers names, and gives addresses.
    Names,
    /// What stands in front of the API and the routers.
    Balancer,
    /// One machine. Taken back together, when the machine goes for good.
    Machine(&'h str),
}

const NAMES: &str = "dns";
const BALANCER: &str = "balancer";
const MACHINE: &str = "machine";

impl<'h> ActionScope<'h> {
    /// Of an action, by its name.
    pub fn of(action: &'h str) -> Option<Self> {
        match action.split_once('/')? {
            (NAMES, _) => Some(Self::Names),
            (BALANCER, _) => Some(Self::Balancer),
            (MACHINE, rest) => rest.split_once('/').map(|(host, _)| Self::Machine(host)),
            _ => None,
        }
    }

    /// The name of an action that belongs to it.
    pub fn action(self, what: &str) -> String {
        match self {
            Self::Names => format!("{NAMES}/{what}"),
            Self::Balancer => format!("{BALANCER}/{what}"),
            Self::Machine(host) => format!("{MACHINE}/{host}/{what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_belongs_to_what_its_name_was_made_for() {
        for scope in [ActionScope::Names, ActionScope::Balancer, ActionScope::Machine("master-1")] {
            assert_eq!(ActionScope::of(&scope.action("config")), Some(scope));
        }
        assert_eq!(ActionScope::of("network/bridge"), None);
        assert_eq!(ActionScope::of("balancer"), None, "no action of the balancer, but something called so");
    }
}
