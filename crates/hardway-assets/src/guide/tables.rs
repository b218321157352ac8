//! The tables of the guide, made from the tables of the code and from the explanations.

use std::collections::BTreeSet;

use super::{host_paths, pages};
use crate::explain::{Catalogue, Explanation, Kind};
use crate::host_identity;
use crate::kubeconfigs::{ApiEndpoint, COMPLETE, KUBECONFIGS};
use crate::pki::catalogue::{self, CertificateSpec, Holder, Lifetime};
use crate::pki::{San, Subject, Usage};
use crate::{Cluster, example};

/// A Markdown table by name, for the made-up cluster; `None` when there is no table of that name. What a thing is stands
/// in the explanations that are given.
pub fn table(name: &str, explained: &Catalogue) -> Option<String> {
    Some(match name {
        "phases" => phases(),
        "certificates" => certificates(explained),
        "checks" => checks(explained),
        "bundles" => bundles(explained),
        "key-pairs" => key_pairs(explained),
        "kubeconfigs" => kubeconfigs(explained),
        "manifests" => of_kind(explained, Kind::Manifest, |name| !is_seed(name)),
        "operator-seeds" => of_kind(explained, Kind::Manifest, is_seed),
        "static-pods" => of_kind(explained, Kind::WorkFile, |name| name.starts_with("static-pods/")),
        "bootstrap-files" => files(explained, &host_paths::on_bootstrap_host()),
        "node-files" => files(explained, &host_paths::on_nodes()),
        "live-files" => files(explained, &host_paths::in_live_system()),
        "units" => of_kind(explained, Kind::Unit, |name| !is_live(name)),
        "live-units" => of_kind(explained, Kind::Unit, is_live),
        "install-config-fields" => of_kind(explained, Kind::Field, |name| {
            !name.starts_with(IN_INVENTORY) && !name.starts_with(IN_HOSTED_INVENTORY)
        }),
        "inventory-fields" => prefixed(explained, Kind::Field, IN_INVENTORY),
        "hosted-inventory-fields" => prefixed(explained, Kind::Field, IN_HOSTED_INVENTORY),
        _ => prefixed(explained, Kind::Flag, &format!("{} ", name.strip_prefix("flags:")?)),
    })
}

/// Fields of `inventory.yaml` are told apart from those of `install-config.yaml` by this.
const IN_INVENTORY: &str = "inventory ";
/// The same of `hosted-inventory.yaml`.
const IN_HOSTED_INVENTORY: &str = "hosted-inventory ";

fn is_seed(name: &str) -> bool {
    name.starts_with("operator-seeds/")
}

/// Units of the live system that installs a host.
fn is_live(name: &str) -> bool {
    name.contains("-install-<name>")
}

fn phases() -> String {
    let rows = pages().iter().map(|page| {
        let name = page.phase.map_or_else(|| "–".to_owned(), |phase| format!("`{phase}`"));
        let link = format!("[{}]({})", page.title, page.file);
        vec![page.number.to_owned(), name, link, page.takes(), page.gives()]
    });
    markdown(&["stage", "phase", "page", "takes", "gives"], rows)
}

fn certificates(explained: &Catalogue) -> String {
    let cluster = example::cluster();
    let host = cluster.node_name(cluster.bootstrap_host());
    // One row for the identities of all hosts.
    let one = cluster.inventory.hosts.iter().find(|host| host.has_identity()).map_or("", |host| &host.name);
    let is_wanted =
        |row: &CertificateSpec| row.holder != Holder::Host || row.name == host_identity::certificate(one);
    let rows = catalogue::certificates(&cluster).into_iter().filter(is_wanted).map(|row| {
        let (name, subject) = match row.holder {
            Holder::Cluster | Holder::Operator => (row.name.replace(&host, "<host>"), subject(&row.subject)),
            Holder::Host => (
                host_identity::certificate("<host>"),
                subject(&row.subject).replace(&format!("{one}:1"), "<host>:<generation>"),
            ),
        };
        vec![
            format!("`{name}`"),
            subject,
            row.signer.map_or_else(|| "itself".to_owned(), ToOwned::to_owned),
            usage(row.usage).to_owned(),
            lifetime(&row, &cluster),
            row.sans.iter().map(san).collect::<Vec<_>>().join(", "),
            what(explained, Kind::Certificate, &name),
        ]
    });
    markdown(&["name", "subject", "signer", "usage", "lifetime", "names", "what it is"], rows)
}

fn bundles(explained: &Catalogue) -> String {
    let rows = catalogue::BUNDLES.iter().map(|bundle| {
        let e = explained.get(Kind::Certificate, bundle.name);
        vec![
            format!("`{}`", bundle.name),
            bundle.members.join(", "),
            e.map(|e| e.readers.to_owned()).unwrap_or_default(),
        ]
    });
    markdown(&["name", "signers in it", "who reads it"], rows)
}

fn key_pairs(explained: &Catalogue) -> String {
    let host_key = host_identity::ssh_host_key("<host>");
    let names = catalogue::KEY_PAIRS.iter().copied().chain([catalogue::SSH_KEY, &host_key]);
    let rows = names.filter_map(|name| explained.get(Kind::Certificate, name));
    explanations(rows.map(|e| (e.name, e)))
}

fn kubeconfigs(explained: &Catalogue) -> String {
    let hosts = host_identity::kubeconfig("<host>");
    let of_hosts = vec![
        format!("`{hosts}`"),
        "api-int".to_owned(),
        COMPLETE.to_owned(),
        host_identity::certificate("<host>"),
        what(explained, Kind::Kubeconfig, &hosts),
    ];
    let rows = KUBECONFIGS.iter().map(|row| {
        let server = match row.server {
            ApiEndpoint::External => "api",
            ApiEndpoint::Internal => "api-int",
            ApiEndpoint::Localhost => "localhost",
        };
        vec![
            format!("`{}`", row.path),
            server.to_owned(),
            row.ca.to_owned(),
            row.client.to_owned(),
            what(explained, Kind::Kubeconfig, row.path),
        ]
    });
    let rows = rows.chain([of_hosts]);
    markdown(&["file", "calls", "trusts", "shows", "what it is"], rows)
}

fn checks(explained: &Catalogue) -> String {
    let rows = explained.iter().filter(|e| e.kind == Kind::Check);
    let rows = rows.map(|e| vec![format!("`{}`", e.name), e.what.to_owned(), e.without.to_owned()]);
    markdown(&["name", "what it asks", "when the answer is no"], rows)
}

/// Flags of one component, fields of one file: by the rest of their names.
fn prefixed(explained: &Catalogue, kind: Kind, prefix: &str) -> String {
    let rows = explained.iter().filter(|e| e.kind == kind);
    explanations(rows.filter_map(|e| Some((e.name.strip_prefix(prefix)?, e))))
}

/// The explanations of files under these paths.
fn files(explained: &Catalogue, paths: &BTreeSet<String>) -> String {
    let found: BTreeSet<&str> =
        paths.iter().flat_map(|path| explained.find(path)).map(|explanation| explanation.name).collect();
    of_kind(explained, Kind::File, |name| found.contains(name))
}

fn of_kind(explained: &Catalogue, kind: Kind, wanted: impl Fn(&'static str) -> bool) -> String {
    explanations(explained.iter().filter(|e| e.kind == kind && wanted(e.name)).map(|e| (e.name, e)))
}

fn explanations<'a>(rows: impl Iterator<Item = (&'a str, &'a Explanation)>) -> String {
    let rows = rows.map(|(name, e)| vec![format!("`{name}`"), e.what.to_owned(), e.without.to_owned()]);
    markdown(&["name", "what it is", "without it"], rows)
}

fn what(explained: &Catalogue, kind: Kind, name: &str) -> String {
    explained.get(kind, name).map(|e| e.what.to_owned()).unwrap_or_default()
}

fn subject(subject: &Subject) -> String {
    let mut parts = vec![format!("CN={}", subject.common_name)];
    parts.extend(subject.organizations.iter().map(|o| format!("O={o}")));
    parts.extend(subject.organizational_unit.map(|unit| format!("OU={unit}")));
    parts.join(", ")
}

fn usage(usage: Usage) -> &'static str {
    match usage {
        Usage::Client => "client",
        Usage::Server => "server",
        Usage::ServerAndClient => "both",
        Usage::Signer => "signs",
    }
}

fn lifetime(row: &CertificateSpec, cluster: &Cluster) -> String {
    match row.lifetime {
        Lifetime::Years(1) => "1 year".to_owned(),
        Lifetime::Years(years) => format!("{years} years"),
        Lifetime::ShortLived => format!("{} hours", row.lifetime.hours(cluster)),
    }
}

fn san(san: &San) -> String {
    match san {
        San::Dns(name) => name.clone(),
        San::Ip(ip) => format!("IP {ip}"),
    }
}

fn markdown(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(head.iter().map(|cell| (*cell).to_owned()).collect());
    text += &line(head.iter().map(|_| "---".to_owned()).collect()).replace(' ', "");
    for row in rows {
        text += &line(row.into_iter().map(|cell| escape(&cell)).collect());
    }
    text
}

/// A pipe would end the cell, and a placeholder outside of code is taken for HTML.
fn escape(cell: &str) -> String {
    cell.split('`')
        .enumerate()
        .map(|(i, part)| if i % 2 == 0 { part.replace('<', "&lt;") } else { part.to_owned() })
        .collect::<Vec<_>>()
        .join("`")
        .replace('|', "\\|")
}
