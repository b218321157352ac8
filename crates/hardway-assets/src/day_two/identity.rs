//! Who may log in: the identity providers of the OAuth server, and a cluster-admin among their users.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::objects::{Made, Settings};
use super::{IdentitySettings, LdapSettings, OpenIdSettings};
use crate::pki::inspect;

const CONFIG: &str = "openshift-config";
/// Ten is what `htpasswd -B` would take less than, and what the first user's password has.
const BCRYPT_COST: u32 = 10;
/// bcrypt looks at no more.
const LONGEST: usize = 72;
const SHORTEST: usize = 12;

/// The names of the identity providers: what stands before the colon in a user's identities.
pub fn provider_names(identity: &IdentitySettings) -> Vec<&'static str> {
    let all = [
        ("htpasswd", identity.htpasswd.is_some()),
        ("ldap", identity.ldap.is_some()),
        ("openid", identity.open_id.is_some()),
    ];
    all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
}

pub(super) fn make(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(identity) = &settings.identity else { return };
    let mut providers = Vec::new();
    if identity.htpasswd.is_some() {
        providers.extend(htpasswd(made, identity));
    }
    if let Some(settings) = &identity.ldap {
        providers.push(ldap(made, settings));
    }
    if let Some(settings) = &identity.open_id {
        providers.push(open_id(made, settings));
    }
    made.object(json!({
        "apiVersion": "config.openshift.io/v1", "kind": "OAuth", "metadata": {"name": "cluster"},
        "spec": {"identityProviders": providers},
    }));
    made.object(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "day2-cluster-admin"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": identity.admin}],
    }));
}

/// Hashed here: no password enters the cluster.
fn htpasswd(made: &mut Made<'_, '_>, identity: &IdentitySettings) -> Option<Value> {
    let mut lines = String::new();
    let users = identity.htpasswd.iter().flat_map(|htpasswd| &htpasswd.users);
    for (i, user) in users.enumerate() {
        let field = format!("day2.identity.htpasswd.users[{i}].passwordFile");
        let Some(password) = made.password(&field, &user.password_file) else { continue };
        if !(SHORTEST..=LONGEST).contains(&password.expose().len()) {
            made.wrong(field, format!("a password must have {SHORTEST} to {LONGEST} bytes"));
            continue;
        }
        let salt = salt(made.inputs.salt_key, &user.name, password.expose());
        match bcrypt::hash_with_salt(password.expose(), BCRYPT_COST, salt) {
            // As `htpasswd -B` writes it.
            Ok(parts) => {
                let hash = parts.format_for_version(bcrypt::Version::TwoY);
                lines += &format!("{}:{hash}\n", user.name);
            }
            Err(_) => made.wrong(field, "the password cannot be hashed with bcrypt"),
        }
    }
    made.secret(CONFIG, "day2-htpasswd", "Opaque", &[("htpasswd", lines.as_bytes())]);
    Some(json!({
        "name": "htpasswd", "mappingMethod": "claim", "type": "HTPasswd",
        "htpasswd": {"fileData": {"name": "day2-htpasswd"}},
    }))
}

/// Derived, so that the same password has the same hash at every run; keyed, so that it tells nobody else anything.
fn salt(key: &[u8], user: &str, password: &[u8]) -> [u8; 16] {
    let digest = Sha256::new()
        .chain_update(key)
        .chain_update(b"\0day2 htpasswd\0")
        .chain_update(user)
        .chain_update(b"\0")
        .chain_update(password)
        .finalize();
    let mut salt = [0; 16];
    salt.copy_from_slice(&digest[..16]);
    salt
}

fn ldap(made: &mut Made<'_, '_>, settings: &LdapSettings) -> Value {
    // The user's own name is what the search goes by: that attribute, or uid (RFC 2255).
    let attribute = settings.url.split('?').nth(1).filter(|word| !word.is_empty()).unwrap_or("uid");
    let mut provider = json!({
        "url": settings.url, "insecure": false,
        "attributes": {"id": ["dn"], "preferredUsername": [attribute], "name": ["cn"], "email": ["mail"]},
    });
    if let (Some(name), Some(path)) = (&settings.bind_dn, &settings.bind_password_file) {
        provider["bindDN"] = name.as_str().into();
        if let Some(password) = made.password("day2.identity.ldap.bindPasswordFile", path) {
            made.secret(CONFIG, "day2-ldap-bind", "Opaque", &[("bindPassword", password.expose())]);
            provider["bindPassword"] = json!({"name": "day2-ldap-bind"});
        }
    }
    if let Some(path) = &settings.ca_file {
        ca(made, "day2.identity.ldap.caFile", path, "day2-ldap-ca");
        provider["ca"] = json!({"name": "day2-ldap-ca"});
    }
    json!({"name": "ldap", "mappingMethod": "claim", "type": "LDAP", "ldap": provider})
}

fn open_id(made: &mut Made<'_, '_>, settings: &OpenIdSettings) -> Value {
    let mut provider = json!({
        "clientID": settings.client_id, "clientSecret": {"name": "day2-openid-client"}, "issuer": settings.issuer,
        "claims": {"preferredUsername": ["preferred_username"], "name": ["name"], "email": ["email"]},
    });
    let field = "day2.identity.openID.clientSecretFile";
    if let Some(secret) = made.password(field, &settings.client_secret_file) {
        made.secret(CONFIG, "day2-openid-client", "Opaque", &[("clientSecret", secret.expose())]);
    }
    if let Some(path) = &settings.ca_file {
        ca(made, "day2.identity.openID.caFile", path, "day2-openid-ca");
        provider["ca"] = json!({"name": "day2-openid-ca"});
    }
    json!({"name": "openid", "mappingMethod": "claim", "type": "OpenID", "openID": provider})
}

fn ca(made: &mut Made<'_, '_>, field: &str, path: &str, name: &str) {
    let Some(text) = made.public_text(field, path) else { return };
    match inspect(text.expose_text()) {
        Ok(all) if !all.is_empty() => made.config_map(CONFIG, name, "ca.crt", text.expose_text()),
        _ => made.wrong(field, format!("{path} holds no certificate in PEM")),
    }
}
