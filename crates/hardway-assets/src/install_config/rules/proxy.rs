//! The proxy: at least one address, each with a scheme that fits, and what is not proxied as domains and networks.

use std::net::IpAddr;

use hardway_base::redaction::HIDDEN;
use ipnet::IpNet;

use super::super::dns_name::subdomain_error;
use super::super::draft::Draft;
use super::super::url::Url;
use crate::schema::Findings;
use crate::violation::Violation;
use hardway_base::redaction::without_password;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let Some(proxy) = &draft.config.proxy else { return };
    if proxy.http_proxy.is_empty() && proxy.https_proxy.is_empty() {
        findings.error(Violation::required("proxy", "must include httpProxy or httpsProxy"));
    }
    address(draft, "proxy.httpProxy", &proxy.http_proxy, &["http"], findings);
    address(draft, "proxy.httpsProxy", &proxy.https_proxy, &["http", "https"], findings);
    no_proxy(&proxy.no_proxy, findings);
}

fn address(draft: &Draft<'_>, path: &str, text: &str, schemes: &[&str], findings: &mut Findings<'_>) {
    if text.is_empty() {
        return;
    }
    // The user name and password of a proxy stand in its URL.
    let shown = without_password(text);
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(_) => {
            // What the parser stumbled over may be a piece of the password, so it parses again what may be shown.
            let special = || "cannot be read; escape what is special in the password".to_owned();
            let error = Url::parse(&shown.replace(HIDDEN, "x")).err();
            let error = error.map_or_else(special, |error| error.to_string());
            return findings.error(Violation::invalid(path, &shown, format!("parse {shown:?}: {error}")));
        }
    };
    if !schemes.contains(&url.scheme.as_str()) {
        findings.error(Violation::unsupported(path, &url.scheme, schemes));
    } else if url.host.is_empty() {
        // Ours: openshift-install takes a URL without a host.
        findings.error(Violation::invalid(path, &shown, "must name a host"));
    }
    let Ok(ip) = url.host.parse::<IpAddr>() else { return };
    let mut part_of = |what: &str| {
        findings.error(Violation::invalid(path, &shown, format!("proxy value is part of the {what}")));
    };
    if draft.cluster_networks.iter().any(|net| net.cidr.contains(&ip)) {
        part_of("cluster networks");
    }
    if draft.service_networks.iter().any(|net| net.cidr.contains(&ip)) {
        part_of("service networks");
    }
    if draft.join_subnet().is_some_and(|join| join.contains(&ip)) {
        part_of("ovn-kubernetes IPv4 InternalJoinSubnet");
    }
}

fn no_proxy(list: &str, findings: &mut Findings<'_>) {
    if list.is_empty() || list == "*" {
        return;
    }
    // A proxy's own URL put here by mistake may hold its password.
    let shown = without_password(list);
    if list.contains(' ') {
        findings.error(Violation::invalid("proxy.noProxy", &shown, "noProxy must not have spaces"));
    }
    for (i, element) in list.split(',').map(str::trim).enumerate() {
        let domain = element.strip_prefix('.').unwrap_or(element);
        let domain = domain.strip_suffix('.').unwrap_or(domain);
        let good = subdomain_error(domain).is_none()
            || element.parse::<IpNet>().is_ok()
            || element.parse::<IpAddr>().is_ok();
        if !good {
            let detail = format!(
                "each element of noProxy must be a IP, CIDR or domain without wildcard characters, which is violated \
                 by element {i} {:?}",
                without_password(element)
            );
            findings.error(Violation::invalid("proxy.noProxy", &shown, detail));
        }
    }
}
