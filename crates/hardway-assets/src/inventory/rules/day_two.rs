//! `day2`: what can be said of it without looking into the files that it names.

use std::collections::BTreeSet;

use crate::day_two_settings::{DayTwoStep, IdentitySettings};
use crate::inventory::draft::{Draft, day_two};
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let settings = day_two(draft.node);
    if let Some(settings) = &settings.identity {
        identity(settings, findings);
    }
    if let Some(certificates) = &settings.certificates
        && certificates.api.is_none()
        && certificates.ingress.is_none()
    {
        findings.error(Violation::required(
            "day2.certificates",
            "a certificate for api, for ingress, or for both",
        ));
    }
    if let Some(proxy) = &settings.proxy {
        if proxy.http_proxy.is_none() && proxy.https_proxy.is_none() {
            findings.error(Violation::required("day2.proxy", "httpProxy, httpsProxy, or both"));
        }
        for (field, url) in [("httpProxy", &proxy.http_proxy), ("httpsProxy", &proxy.https_proxy)] {
            if let Some(url) = url
                && !["http://", "https://"].iter().any(|scheme| host_after(url, scheme))
            {
                // A password may stand in it.
                let detail = "must be a URL that begins with http:// or https://";
                findings.error(Violation::redacted(format!("day2.proxy.{field}"), detail));
            }
        }
    }
    if let Some(time) = &settings.time {
        if time.servers.is_empty() {
            findings.error(Violation::required("day2.time.servers", "at least one time server"));
        }
        for (i, server) in time.servers.iter().enumerate() {
            if !is_server(server) {
                let detail = "must be a name or an address, and nothing else";
                findings.error(Violation::invalid(format!("day2.time.servers[{i}]"), server, detail));
            }
        }
    }
    for file in DayTwoStep::ALL.into_iter().flat_map(|step| settings.files(step)) {
        if file.path.is_empty() {
            findings.error(Violation::required(file.field, "the path of a file"));
        }
    }
}

fn identity(settings: &IdentitySettings, findings: &mut Findings<'_>) {
    let IdentitySettings { admin, htpasswd, ldap, open_id } = settings;
    if htpasswd.is_none() && ldap.is_none() && open_id.is_none() {
        findings.error(Violation::required("day2.identity", "users from htpasswd, ldap or openID"));
    }
    if let Some(detail) = bad_user(admin) {
        findings.error(Violation::invalid("day2.identity.admin", admin, detail));
    }
    let mut seen = BTreeSet::new();
    for (i, user) in htpasswd.iter().flat_map(|htpasswd| &htpasswd.users).enumerate() {
        let path = format!("day2.identity.htpasswd.users[{i}].name");
        if let Some(detail) = bad_user(&user.name) {
            findings.error(Violation::invalid(path, &user.name, detail));
        } else if !seen.insert(&user.name) {
            findings.error(Violation::invalid(path, &user.name, "this user is there already"));
        }
    }
    if htpasswd.is_some() && ldap.is_none() && open_id.is_none() && !admin.is_empty() && !seen.contains(admin)
    {
        let detail = "is not among the users of htpasswd, and there is nobody else to ask";
        findings.error(Violation::invalid("day2.identity.admin", admin, detail));
    }
    if let Some(ldap) = ldap {
        if !["ldap://", "ldaps://"].iter().any(|scheme| host_after(&ldap.url, scheme)) {
            let detail = "must be a URL such as ldaps://ldap.example.com/ou=people,dc=example,dc=com?uid";
            findings.error(Violation::invalid("day2.identity.ldap.url", &ldap.url, detail));
        }
        if ldap.bind_dn.is_some() != ldap.bind_password_file.is_some() {
            let missing = if ldap.bind_dn.is_some() { "bindPasswordFile" } else { "bindDN" };
            let detail = "bindDN and bindPasswordFile go together";
            findings.error(Violation::required(format!("day2.identity.ldap.{missing}"), detail));
        }
    }
    if let Some(open_id) = open_id
        && (!host_after(&open_id.issuer, "https://") || open_id.issuer.contains(['?', '#']))
    {
        let detail = "must be a URL that begins with https://, without query and fragment";
        findings.error(Violation::invalid("day2.identity.openID.issuer", &open_id.issuer, detail));
    }
}

/// What OpenShift refuses as the name of a user (openshift/apiserver-library-go, `ValidateUserName`), or cannot be in a file of passwords.
fn bad_user(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("must not be empty"),
        "kubeadmin" | "kube:admin" => Some("is the first user, who is meant to go"),
        "~" | "." | ".." => Some("is no name of a user"),
        name if name.contains([':', '/', '%']) || name.contains(char::is_whitespace) => {
            Some("must not contain colons, slashes, percent signs or spaces")
        }
        _ => None,
    }
}

fn host_after(url: &str, scheme: &str) -> bool {
    let rest = url.strip_prefix(scheme);
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace))
}

fn is_server(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || ".-:_".contains(c);
    !name.is_empty() && name.chars().all(allowed) && !name.starts_with('-')
}
