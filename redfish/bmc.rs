//! A controller as the settings describe it.

use hardway_base::Secret;

use super::{BmcAddress, Trust};

/// Where a controller is, who logs in, and whom to trust. Printed without its password.
#[derive(Clone, Debug)]
pub struct Bmc {
    /// Where.
    pub address: BmcAddress,
    /// Who.
    pub user: String,
    /// With what.
    pub password: Secret,
    /// How.
    pub login: Login,
    /// Whose certificate is accepted.
    pub trust: Trust,
}

/// How the controller is shown who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Login {
    /// With every request.
    #[default]
    Basic,
    /// Once, for a token that is given back at the end. Some controllers know nothing else.
    Session,
}
