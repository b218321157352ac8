//! An image that nodes will not find, and what to do about it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hardway_base::{counted, shell_word};
use hardway_manifests::{PipelineRow, Severity};
use hardway_release::node_images::{
    AskedPlace, ImageLookup, LookupOutcome, MirrorMapping, NodeRegistries, PlaceFault, RegistriesConf, Sought,
};
use hardway_release::{PullSpec, PullSpecError, RegistryError};

use super::manifest_images::ImageUse;

/// Something wrong with where an image is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Hole {
    pub(crate) severity: Severity,
    pub(crate) kind: HoleKind,
    /// As it is named.
    pub(crate) image: String,
    /// Its name in the release.
    pub(crate) name: Option<String>,
    /// Who runs it.
    pub(crate) users: Vec<String>,
    /// Who looks for it: nodes, or the bootstrap host.
    pub(crate) who: &'static str,
    /// Where a person named it, or the mapping.
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// Every place that was asked, in order.
    pub(crate) tried: Vec<Tried>,
    /// The mapping that covers it, or should.
    pub(crate) mapping: Option<String>,
    pub(crate) fix: String,
    /// Copies it to where it is looked for.
    pub(crate) command: Option<String>,
}

/// A place, and why the image cannot be had there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tried {
    /// `registry/repository`.
    pub(crate) place: String,
    pub(crate) is_mirror: bool,
    /// Nothing where it is there.
    pub(crate) fault: Option<String>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident = $name:literal, $meaning:literal;)+) => {
        /// What is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum HoleKind {
            $($(#[$doc])+ $kind,)+
        }

        impl HoleKind {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind),+];

            /// In output for programs.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }

            /// In a few words.
            pub(crate) const fn meaning(self) -> &'static str {
                match self { $(Self::$kind => $meaning,)+ }
            }
        }
    };
}

kinds! {
    /// No place has it.
    Missing = "missing", "not found in any of the places where nodes look";
    /// It is there for other machines.
    Platform = "platform", "not built for the machines of this cluster";
    /// Its bytes, or its digest, are others.
    Damaged = "damaged", "not what the digest says";
    /// A policy asks for a signature.
    Unsigned = "unsigned", "unsigned, and a policy requires a signature";
    /// registries.conf forbids to ask.
    Blocked = "blocked", "blocked in the places where nodes look";
    /// The pull secret does not fit.
    Refused = "refused", "refused by the registry with this pull secret";
    /// TLS.
    Untrusted = "untrusted", "in a registry that nodes will not trust";
    /// Nobody answers.
    Unreachable = "unreachable", "in a registry that does not answer";
    /// Only images of other registries may run.
    NotAllowed = "not-allowed", "not from a registry that the cluster allows";
    /// It names no registry.
    ShortName = "short-name", "named without a registry";
    /// Found, after others failed.
    Fallback = "fallback", "found, but not in the first place where nodes look";
    /// Found, but in no mirror.
    SourceOnly = "source-only", "in no mirror, only at the source";
}

impl HoleKind {
    /// Whether a registry is to blame, whichever image and mapping leads there.
    fn is_of_registry(self) -> bool {
        matches!(self, Self::Refused | Self::Untrusted | Self::Unreachable)
    }

    /// In reports for pipelines.
    pub(crate) fn rule(self) -> String {
        format!("image/{}", self.name())
    }
}

/// What all holes have in common.
pub(super) struct Context {
    /// The release, by digest.
    pub(super) release: String,
    /// How many the cluster has.
    pub(super) architectures: usize,
}

impl Context {
    /// What is wrong with where an image was found, or was not.
    pub(super) fn judge(
        &self,
        used: &ImageUse,
        who: &'static str,
        sought: &Result<Sought, PullSpecError>,
        conf: &RegistriesConf,
        registries: &NodeRegistries,
    ) -> Vec<Hole> {
        let sought = match sought {
            Ok(sought) => sought,
            Err(error) => return vec![self.bad_name(used, who, error)],
        };
        let lookups = conf.lookups(&used.named).unwrap_or_default();
        let mut holes = Vec::new();
        // The last is the one that was found, or as telling as any other.
        let Some((outcome, lookup)) =
            sought.outcomes.last().zip(lookups.get(sought.outcomes.len().max(1) - 1))
        else {
            return vec![self.nowhere(used, who)];
        };
        let case = Case { used, who, outcome, lookup, registries };
        match outcome.is_found {
            true => holes.extend(self.found(&case)),
            false => holes.push(self.missing(&case)),
        }
        if outcome.is_found && used.named.is_short() {
            holes.push(self.short(&case));
        }
        if !registries.is_allowed(&lookup.image.name()) {
            let fix = "add its registry to allowedRegistries of the object Image cluster";
            holes.push(Hole { fix: fix.to_owned(), ..case.hole(Severity::Error, HoleKind::NotAllowed) });
        }
        holes
    }

    fn bad_name(&self, used: &ImageUse, who: &'static str, error: &PullSpecError) -> Hole {
        let fix = format!("{error}; correct the mirror that produces this name");
        Hole { fix, ..bare(used, who, Severity::Error, HoleKind::Missing) }
    }

    fn nowhere(&self, used: &ImageUse, who: &'static str) -> Hole {
        let fix = "write the registry into the name: nodes search no registries".to_owned();
        Hole { fix, ..bare(used, who, Severity::Error, HoleKind::ShortName) }
    }

    fn short(&self, case: &Case<'_>) -> Hole {
        let there = case.outcome.asked.last().map(|asked| asked.image.to_string()).unwrap_or_default();
        let fix = format!(
            "write {there}: otherwise the owner of this name in an earlier registry decides what runs"
        );
        Hole { fix, tried: Vec::new(), ..case.hole(Severity::Warning, HoleKind::ShortName) }
    }

    fn found(&self, case: &Case<'_>) -> Option<Hole> {
        let (last, before) = case.outcome.asked.split_last()?;
        let first = before.first()?;
        let kind = if last.is_mirror { HoleKind::Fallback } else { HoleKind::SourceOnly };
        let (fix, command) = self.way_out(case, first);
        Some(Hole { fix, command, ..case.hole(Severity::Warning, kind) })
    }

    fn missing(&self, case: &Case<'_>) -> Hole {
        let asked = &case.outcome.asked;
        // A mirror says more than the source, which may well be out of reach for good.
        let telling = asked.iter().find(|asked| asked.is_mirror).or(asked.last());
        let kind = telling.and_then(|asked| asked.fault.as_ref()).map_or(HoleKind::Missing, kind);
        let is_half = kind == HoleKind::Platform && self.architectures > 1 && !case.used.is_component();
        let is_weak = case.used.is_on_demand || is_half;
        let severity = if is_weak { Severity::Warning } else { Severity::Error };
        let (fix, command) = telling.map(|asked| self.way_out(case, asked)).unwrap_or_default();
        Hole { fix, command, ..case.hole(severity, kind) }
    }

    /// What to do about one place, and the command that would copy the image there.
    fn way_out(&self, case: &Case<'_>, asked: &AskedPlace) -> (String, Option<String>) {
        let Some(fault) = &asked.fault else { return (String::new(), None) };
        let copies = matches!(
            kind(fault),
            HoleKind::Missing | HoleKind::Platform | HoleKind::Damaged | HoleKind::Unsigned
        );
        if asked.is_mirror {
            return match copies {
                true => ("copy it there".to_owned(), Some(self.copy(case, &asked.image))),
                false => (way_out_of(fault), None),
            };
        }
        if let Some(mirror) = case.lookup.passed_by.first() {
            let fix = match case.lookup.image.digest {
                None => format!(
                    "use a digest, or add an ImageTagMirrorSet: {} is a mirror for digests only, and this is a tag",
                    mirror.location
                ),
                Some(_) => format!(
                    "add an ImageDigestMirrorSet: {} is a mirror for tags only, and this is a digest",
                    mirror.location
                ),
            };
            return (fix, None);
        }
        if let (None, Some(nearest)) =
            (case.lookup.rule, nearest(&case.lookup.image, &case.registries.mappings))
        {
            let mirror = nearest.mirrors.first().map_or("REGISTRY/REPOSITORY", String::as_str);
            let there = format!("{mirror}/{}", case.lookup.image.repository);
            let there =
                format!("{there}{}", &case.lookup.image.to_string()[case.lookup.image.name().len()..]);
            let fix = format!(
                "add a mapping for {}: the one for {} does not cover it",
                case.lookup.image.name(),
                nearest.source
            );
            let command = match case.used.is_component() {
                true => mirror_release(&self.release, mirror),
                false => copy_image(&case.lookup.image, &there),
            };
            return (fix, Some(command));
        }
        (way_out_of(fault), None)
    }

    /// Images of a release go with it; others one by one.
    fn copy(&self, case: &Case<'_>, to: &PullSpec) -> String {
        match case.used.component {
            Some(_) => mirror_release(&self.release, &to.name()),
            None => copy_image(&case.lookup.image, &to.to_string()),
        }
    }
}

/// What a manifest calls a mirror may be anything: it is one word of the command that a person will type.
fn mirror_release(release: &str, to: &str) -> String {
    format!("hardway release mirror {} --to {}", shell_word(release), shell_word(to))
}

fn copy_image(image: &PullSpec, to: &str) -> String {
    let [from, to] = [&image.to_string(), to].map(|place| shell_word(&format!("docker://{place}")));
    format!("skopeo copy --all {from} {to}")
}

/// One image, looked for by one sort of machine.
struct Case<'a> {
    used: &'a ImageUse,
    who: &'static str,
    outcome: &'a LookupOutcome,
    lookup: &'a ImageLookup<'a>,
    registries: &'a NodeRegistries,
}

impl Case<'_> {
    fn hole(&self, severity: Severity, kind: HoleKind) -> Hole {
        let tried = self.outcome.asked.iter().map(|asked| Tried {
            place: asked.image.name(),
            is_mirror: asked.is_mirror,
            fault: asked.fault.as_ref().map(said),
        });
        let mapping = self.mapping();
        let mut hole = Hole { tried: tried.collect(), ..bare(self.used, self.who, severity, kind) };
        if let (None, Some(mapping)) = (&self.used.place, mapping) {
            (hole.file, hole.line) = (mapping.origin.file.clone(), mapping.origin.line);
        }
        hole.mapping = Some(match (mapping, self.lookup.rule) {
            (Some(mapping), Some(_)) => shown(mapping),
            (Some(mapping), None) => format!("none covers it; the closest is {}", shown(mapping)),
            (None, Some(rule)) => format!("the entry {} of registries.conf", rule.prefix),
            (None, None) => "none covers it".to_owned(),
        });
        hole
    }

    /// The one that counts, or should.
    fn mapping(&self) -> Option<&MirrorMapping> {
        let mappings = &self.registries.mappings;
        match self.lookup.rule {
            Some(rule) => mappings.iter().find(|mapping| mapping.source == rule.prefix),
            None => nearest(&self.lookup.image, mappings),
        }
    }
}

impl Hole {
    /// The same of another machine.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.severity, self.kind, &self.image) == (other.severity, other.kind, &other.image)
    }

    /// Whether one thing is wrong with both: then it is told once, with all images below it.
    fn has_cause_of(&self, other: &Self) -> bool {
        (self.severity, self.kind, self.who) == (other.severity, other.kind, other.who)
            && (self.kind.is_of_registry() || self.mapping == other.mapping)
            && self.causes() == other.causes()
            && self.nameless(&self.fix) == other.nameless(&other.fix)
    }

    /// What is wrong in each place, whatever is looked for there.
    fn causes(&self) -> Vec<(&str, bool, Option<String>)> {
        let cause = |tried: &'_ Tried| tried.fault.as_ref().map(|fault| self.nameless(fault));
        self.tried.iter().map(|tried| (tried.registry(), tried.is_mirror, cause(tried))).collect()
    }

    /// A text without the names of this very image.
    fn nameless(&self, text: &str) -> String {
        let bare = self.image.split('@').next().unwrap_or_default();
        let untagged = match bare.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => name,
            _ => bare,
        };
        let mut names: Vec<&str> = vec![self.image.as_str(), bare, untagged];
        for tried in &self.tried {
            names.push(&tried.place);
            names.extend(tried.place.split_once('/').map(|(_, repository)| repository));
        }
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        // A name as short as that is part of many words.
        names.iter().filter(|name| name.len() > 3).fold(text.to_owned(), |text, name| text.replace(name, "…"))
    }

    /// For pipelines.
    pub(crate) fn row(&self) -> PipelineRow {
        PipelineRow {
            rule: self.kind.rule(),
            meaning: self.kind.meaning().to_owned(),
            severity: self.severity,
            case: self.image.clone(),
            file: self.file.clone(),
            line: self.line,
            column: self.column,
            object: self.image.clone(),
            message: self.sentence(),
            fix: Some(self.way_out()),
        }
    }

    /// Everything in a line.
    pub(crate) fn sentence(&self) -> String {
        let mut text = self.kind.meaning().to_owned();
        for tried in &self.tried {
            let _ = write!(text, "; {}", tried.shown());
        }
        if let Some(mapping) = &self.mapping {
            let _ = write!(text, "; mapping: {mapping}");
        }
        text
    }

    /// What to do, with the command.
    pub(crate) fn way_out(&self) -> String {
        match &self.command {
            Some(command) => format!("{}: {command}", self.fix),
            None => self.fix.clone(),
        }
    }
}

impl Tried {
    fn registry(&self) -> &str {
        self.place.split('/').next().unwrap_or_default()
    }

    fn shown(&self) -> String {
        let mark = if self.is_mirror { " (mirror)" } else { "" };
        format!("{}{mark}: {}", self.place, self.fault.as_deref().unwrap_or("has it"))
    }
}

/// Holes for people: those with the same cause together, with the names of all images.
pub(super) fn grouped<'h>(holes: impl Iterator<Item = &'h Hole>) -> Vec<String> {
    let shown = |hole: &Hole| match (&hole.name, hole.users.first()) {
        (Some(name), _) => format!("{name}  {}", hole.image),
        (None, Some(user)) => format!("{}  {}:{}:{} {user}", hole.image, hole.file, hole.line, hole.column),
        (None, None) => hole.image.clone(),
    };
    by_cause(holes)
        .iter()
        .map(|holes| group(holes, &holes.iter().map(|hole| shown(hole)).collect::<Vec<_>>()))
        .collect()
}

/// The same in a sentence for each cause, with what to do.
pub(super) fn sentences(holes: Vec<&Hole>) -> super::Sentences {
    let name = |hole: &&Hole| hole.name.clone().unwrap_or_else(|| hole.image.clone());
    let groups = by_cause(holes.into_iter());
    let sentence = |holes: &Vec<&Hole>| {
        let names: Vec<String> = holes.iter().map(name).collect();
        (format!("{}: {}", names.join(", "), holes[0].sentence()), holes[0].way_out())
    };
    groups.iter().map(sentence).collect()
}

/// In the order of the first of each.
fn by_cause<'h>(holes: impl Iterator<Item = &'h Hole>) -> Vec<Vec<&'h Hole>> {
    let mut groups: Vec<Vec<&Hole>> = Vec::new();
    for hole in holes {
        match groups.iter_mut().find(|group| group[0].has_cause_of(hole)) {
            Some(group) => group.push(hole),
            None => groups.push(vec![hole]),
        }
    }
    groups
}

fn group(holes: &[&Hole], names: &[String]) -> String {
    let hole = holes[0];
    let images = counted(names.len(), "image");
    let mut text = format!("{}: {images} {}", hole.severity.word(), hole.kind.meaning());
    if hole.who != super::node_files::NODES {
        let _ = write!(text, ", for the {}", hole.who);
    }
    let is_one_place = holes.iter().all(|other| other.tried == hole.tried);
    for tried in &hole.tried {
        let shown = match is_one_place {
            true => tried.shown(),
            // Told of the first, and meant of all.
            false => Tried { place: tried.registry().to_owned(), ..tried.clone() }.shown(),
        };
        let _ = write!(text, "\n  {shown}");
    }
    let mappings: BTreeSet<&String> = holes.iter().filter_map(|hole| hole.mapping.as_ref()).collect();
    for mapping in mappings {
        let _ = write!(text, "\n  mapping: {mapping}");
    }
    for name in names {
        let _ = write!(text, "\n    {name}");
    }
    let mut ways: Vec<String> = Vec::new();
    for way in holes.iter().map(|hole| hole.way_out()) {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    match &ways[..] {
        [way] => text + "\n  fix: " + way,
        ways => text + "\n  fix: for each of them:\n    " + &ways.join("\n    "),
    }
}

fn bare(used: &ImageUse, who: &'static str, severity: Severity, kind: HoleKind) -> Hole {
    let (file, line, column) = used.place.clone().unwrap_or_else(|| ("install-config.yaml".to_owned(), 1, 1));
    Hole {
        severity,
        kind,
        image: used.image.clone(),
        name: used.component.clone(),
        users: used.users.clone(),
        who,
        file,
        line,
        column,
        tried: Vec::new(),
        mapping: None,
        fix: String::new(),
        command: None,
    }
}

fn kind(fault: &PlaceFault) -> HoleKind {
    use RegistryError as E;
    let error = match fault {
        PlaceFault::Blocked { .. } => return HoleKind::Blocked,
        PlaceFault::Unsigned(_) => return HoleKind::Unsigned,
        PlaceFault::Registry(error) => &**error,
    };
    match error {
        E::Unauthorized { .. } | E::Denied { .. } | E::TokenServer { .. } => HoleKind::Refused,
        E::UnknownCa { .. } | E::Certificate { .. } | E::PlainHttp { .. } => HoleKind::Untrusted,
        E::NoSuchPlatform { .. } => HoleKind::Platform,
        E::DigestMismatch { .. }
        | E::Truncated { .. }
        | E::TooLarge { .. }
        | E::Malformed { .. }
        | E::Layer { .. } => HoleKind::Damaged,
        E::NoSuchTag { .. } | E::NoSuchRepository { .. } | E::NoSuchDigest { .. } | E::NoSuchBlob { .. } => {
            HoleKind::Missing
        }
        _ => HoleKind::Unreachable,
    }
}

/// Without the name of the image, which stands beside it.
fn said(fault: &PlaceFault) -> String {
    use RegistryError as E;
    let PlaceFault::Registry(error) = fault else { return fault.to_string() };
    match &**error {
        E::NoSuchDigest { .. } => "has no image with this digest".to_owned(),
        E::NoSuchTag { .. } => "has no such tag".to_owned(),
        E::NoSuchRepository { .. } => "has no such repository".to_owned(),
        E::NoSuchPlatform { wanted, there, .. } => {
            format!("is not built for {wanted}; it is for {}", there.join(", "))
        }
        error => error.to_string(),
    }
}

fn way_out_of(fault: &PlaceFault) -> String {
    match fault {
        PlaceFault::Blocked { prefix } => {
            format!(
                "nodes may not use {prefix}: mirror it, or remove it from blockedRegistries and NeverContactSource"
            )
        }
        PlaceFault::Unsigned(_) => "sign it there, or narrow the scope of the policy".to_owned(),
        PlaceFault::Registry(error) => match &**error {
            RegistryError::PlainHttp { registry } => {
                format!(
                    "give {registry} a certificate, or name it in insecureRegistries of the object Image cluster"
                )
            }
            RegistryError::UnknownCa { registry } => {
                format!(
                    "put the CA certificate of {registry} into additionalTrustBundle; what this host trusts, nodes do not"
                )
            }
            error => error.fix(),
        },
    }
}

/// The mapping whose source has most of its path in common with a name, of the same registry at least.
fn nearest<'m>(image: &PullSpec, mappings: &'m [MirrorMapping]) -> Option<&'m MirrorMapping> {
    let name = image.name();
    let common = |mapping: &MirrorMapping| {
        mapping.source.split('/').zip(name.split('/')).take_while(|(a, b)| a == b).count()
    };
    let best = mappings.iter().max_by_key(|mapping| common(mapping))?;
    (common(best) > 0).then_some(best)
}

fn shown(mapping: &MirrorMapping) -> String {
    let origin = &mapping.origin;
    let never = if mapping.is_blocking { ", NeverContactSource" } else { "" };
    format!(
        "{} → {}{never} ({}:{} {})",
        mapping.source,
        mapping.mirrors.join(", "),
        origin.file,
        origin.line,
        origin.field
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> Hole {
        let repository = format!("ocp/{name}");
        let fault =
            format!("mirror.example:5000 requires a login for {repository} (nobody): 401 Unauthorized");
        Hole {
            severity: Severity::Error,
            kind: HoleKind::Refused,
            image: format!("quay.io/openshift/{name}@sha256:01"),
            name: Some(name.to_owned()),
            users: Vec::new(),
            who: super::super::node_files::NODES,
            file: "install-config.yaml".to_owned(),
            line: 1,
            column: 1,
            tried: vec![Tried {
                place: format!("mirror.example:5000/{repository}"),
                is_mirror: true,
                fault: Some(fault),
            }],
            mapping: Some(format!("quay.io/openshift/{name} → mirror.example:5000/{repository}")),
            fix: "add a login for mirror.example:5000 to pullSecret".to_owned(),
            command: None,
        }
    }

    #[test]
    fn one_cause_is_told_once_with_every_image_below_it() {
        let names = ["etcd", "console", "oauth-proxy", "pod", "cli"];
        let holes = names.map(refused);
        let told = grouped(holes.iter());
        let [text] = &told[..] else { panic!("{told:#?}") };
        assert!(text.starts_with("error: 5 images refused by the registry"), "{text}");
        assert!(
            names.iter().all(|name| text.contains(&format!("quay.io/openshift/{name}@sha256:01"))),
            "{text}"
        );
        assert_eq!(text.matches("fix:").count(), 1, "{text}");
        assert_eq!(text.matches("401 Unauthorized").count(), 1, "{text}");
        // Another registry is another cause, and a hole in a mirror is one of its mapping.
        let mut other = refused("pod");
        other.tried[0].place = "other.example/ocp/pod".to_owned();
        assert_eq!(grouped(holes.iter().chain([&other])).len(), 2);
        let missing = |name: &str, mapping: &str| Hole {
            kind: HoleKind::Missing,
            mapping: Some(mapping.to_owned()),
            fix: "copy it there".to_owned(),
            command: Some(format!("skopeo copy {name}")),
            ..refused(name)
        };
        let holes = [missing("etcd", "a → b"), missing("console", "a → b"), missing("router", "c → d")];
        let told = grouped(holes.iter());
        assert_eq!(told.len(), 2, "{told:#?}");
        assert!(
            told[0].contains("fix: for each of them:\n    copy it there: skopeo copy etcd\n"),
            "{}",
            told[0]
        );
    }

    #[test]
    fn a_mirror_of_any_name_is_one_word_of_the_advised_command() {
        let image: PullSpec = "quay.io/a/b:1".parse().unwrap();
        assert_eq!(
            copy_image(&image, "m.example/a;reboot #:1"),
            "skopeo copy --all docker://quay.io/a/b:1 'docker://m.example/a;reboot #:1'"
        );
        assert_eq!(
            mirror_release("quay.io/r@sha256:01", "$(reboot)"),
            "hardway release mirror quay.io/r@sha256:01 --to '$(reboot)'"
        );
        assert_eq!(
            mirror_release("quay.io/r@sha256:01", "m.example:5000/ocp"),
            "hardway release mirror quay.io/r@sha256:01 --to m.example:5000/ocp"
        );
    }
}
