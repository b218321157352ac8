//! Who a certificate is about.

use super::der;

/// Organizations, organizational unit and common name, in the order Go's `pkix.Name` writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Kubernetes reads these as the user's groups.
    pub organizations: Vec<&'static str>,
    /// Only signers carry one.
    pub organizational_unit: Option<&'static str>,
    /// Kubernetes reads it as the user's name.
    pub common_name: String,
}

impl Subject {
    /// `CN=name,OU=unit`: how the installer names its signers.
    pub fn signer(common_name: &str, unit: &'static str) -> Self {
        Self { organizational_unit: Some(unit), ..Self::user(common_name, &[]) }
    }

    /// A user and its groups.
    pub fn user(common_name: impl Into<String>, groups: &[&'static str]) -> Self {
        Self { organizations: groups.to_vec(), organizational_unit: None, common_name: common_name.into() }
    }

    /// As an X.501 `Name`. Several organizations share one RDN, as Go writes them: readers see them as one set.
    pub fn to_der(&self) -> Vec<u8> {
        let mut rdns = Vec::new();
        if !self.organizations.is_empty() {
            rdns.push(der::set(self.organizations.iter().map(|o| attribute(&[2, 5, 4, 10], o)).collect()));
        }
        if let Some(unit) = self.organizational_unit {
            rdns.push(der::set(vec![attribute(&[2, 5, 4, 11], unit)]));
        }
        rdns.push(der::set(vec![attribute(&[2, 5, 4, 3], &self.common_name)]));
        der::sequence(&rdns)
    }
}

/// `AttributeTypeAndValue`, as PrintableString where the characters allow it.
fn attribute(oid: &[u32], value: &str) -> Vec<u8> {
    let printable = value.bytes().all(|b| b.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&b));
    let tag = if printable { 0x13 } else { 0x0c };
    der::sequence(&[der::oid(oid), der::tagged(tag, value.as_bytes())])
}
