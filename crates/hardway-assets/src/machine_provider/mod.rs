//! Who makes the machines, as far as the input files and the assets have to know: a row for each provider.
//!
//! ```text
//! Provider       `machines.provider` of the inventory            mod.rs
//! ProviderRow    its name, its fields, and what they mean        a file for each, with a page of explanations beside it
//! ```
//!
//! How machines are made is `hardway_machines::providers`: a descriptor there points at each of these rows.

mod bare_metal;
mod gce;
mod lab;
mod libvirt;

use serde::{Serialize, Serializer};

use crate::schema::{Field, FieldKind};

/// One provider: what this crate knows of it.
#[derive(Debug)]
pub struct ProviderRow {
    /// The value of `machines.provider`, and the key of the provider's settings below `machines`.
    pub name: &'static str,
    /// Those settings.
    pub fields: &'static [Field],
    /// A section for the settings as a whole, and one for each of [`ProviderRow::fields`].
    pub explanations: &'static str,
    /// Whether this host is the machines' gateway, and so reaches them at that address. Elsewhere the gateway is a router.
    pub is_gateway_here: bool,
    /// Whether machines come with a configured network card, as a cloud's do. Otherwise the inventory has to name one.
    pub configures_cards: bool,
    /// Whether the bootstrap host serves machine configs too, for machines that boot from a stock pointer. Those that boot with
    /// what hardway makes for them need no such server.
    pub serves_machine_configs: bool,
    /// Whether machines are in zones of the provider's own: its setting `zones` has them all, and each name begins with its region.
    pub has_zones: bool,
    /// Why it makes no workers of hosted clusters, where it makes none.
    pub no_hosted_workers: Option<&'static str>,
}

macro_rules! providers {
    ($($(#[$attribute:meta])* $variant:ident => $row:path,)+) => {
        /// `machines.provider`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Provider {
            $($(#[$attribute])* $variant,)+
        }

        impl Provider {
            /// Every provider, in the order of their names.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What this crate knows of it.
            pub const fn row(self) -> &'static ProviderRow {
                match self {
                    $(Self::$variant => &$row,)+
                }
            }
        }
    };
}

providers! {
    /// Machines that are there, with install media and perhaps a management controller.
    BareMetal => bare_metal::ROW,
    /// Google Compute Engine.
    Gce => gce::ROW,
    /// Node containers on this computer.
    Lab => lab::ROW,
    /// Virtual machines of a libvirt host.
    #[default]
    Libvirt => libvirt::ROW,
}

impl Provider {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|provider| provider.name() == name)
    }

    /// As the inventory has it.
    pub const fn name(self) -> &'static str {
        self.row().name
    }
}

impl Serialize for Provider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

const COUNT: usize = Provider::ALL.len();

static NAMES: [&str; COUNT] = names();

/// The fields of `machines`: who makes them, and the settings of each who could.
pub(crate) static MACHINES: [Field; COUNT + 1] = machines();

const fn names() -> [&'static str; COUNT] {
    let mut names = [""; COUNT];
    let mut i = 0;
    while i < COUNT {
        names[i] = Provider::ALL[i].name();
        i += 1;
    }
    names
}

const fn machines() -> [Field; COUNT + 1] {
    let mut fields = [Field::new("provider", FieldKind::String).one_of(&NAMES); COUNT + 1];
    let mut i = 0;
    while i < COUNT {
        let row = Provider::ALL[i].row();
        fields[i + 1] = Field::new(row.name, FieldKind::Object(row.fields));
        i += 1;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_found_by_their_names_which_are_sorted() {
        assert!(NAMES.is_sorted());
        for provider in Provider::ALL {
            assert_eq!(Provider::named(provider.name()), Some(*provider));
        }
        assert_eq!(Provider::named("cloud"), None);
    }
}
