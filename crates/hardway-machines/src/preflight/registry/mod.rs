//! Where the release comes from, as the caller's registry client saw it.

use hardway_assets::release_payload::SAMPLE;

use super::Judged;
use super::scene::Scene;

/// What registries said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistrySeen {
    /// Every place where the release image may be, the image's own first.
    pub places: Vec<PlaceSeen>,
    /// Why nothing was asked at all, such as a pull secret that cannot be read.
    pub trouble: Option<Refusal>,
}

/// One place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceSeen {
    /// `registry/repository`.
    pub name: String,
    /// Whether it is a mirror.
    pub is_mirror: bool,
    /// The digest of the image there, or why there is none.
    pub found: Result<String, Refusal>,
    /// Seconds that its clock is ahead of ours, if it told its time.
    pub ahead: Option<i64>,
}

/// What came of looking for all images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImagesSeen {
    /// How many were looked for.
    pub looked_for: usize,
    /// Those that nodes will not find, in sentences.
    pub missing: Vec<Refusal>,
    /// What is odd about others.
    pub odd: Vec<Refusal>,
    /// Why nobody was asked at all.
    pub trouble: Option<Refusal>,
}

/// Why a registry gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What happened, without secrets.
    pub what: String,
    /// What to do.
    pub fix: String,
}

pub(super) fn release_image(scene: &Scene<'_>) -> Judged {
    if scene.site.is_sample && scene.surroundings().registry.is_none() {
        return judge_sample();
    }
    judge(scene, judge_release_image)
}

pub(super) fn mirrors(scene: &Scene<'_>) -> Judged {
    judge(scene, judge_mirrors)
}

pub(super) fn images(scene: &Scene<'_>) -> Judged {
    let Some(ask) = scene.site.images else {
        return Judged::not_applicable("no mirrors are declared: images come from where they are named");
    };
    if scene.site.cluster.inventory.release.image == SAMPLE {
        return Judged::not_applicable("the inventory names no registry");
    }
    if let (Some(own), Some(why)) = (scene.surroundings().registry, scene.names_to_come()) {
        return Judged::not_applicable(format!("{own}; {why}"));
    }
    judge_images(&ask())
}

pub(super) fn clock_skew(scene: &Scene<'_>) -> Judged {
    judge(scene, judge_clock_skew)
}

fn judge(scene: &Scene<'_>, judge: fn(&RegistrySeen) -> Judged) -> Judged {
    if scene.site.cluster.inventory.release.image == SAMPLE {
        return Judged::not_applicable("the inventory names no registry");
    }
    if let (Some(own), Some(why)) = (scene.surroundings().registry, scene.names_to_come()) {
        return Judged::not_applicable(format!("{own}; {why}"));
    }
    match scene.registry() {
        None => Judged::not_applicable("registries cannot be checked here"),
        Some(seen) => judge(seen),
    }
}

/// Machines would be made that wait for ever.
fn judge_sample() -> Judged {
    Judged::refused(
        "the built-in sample release is an example: its images do not exist, and no machine can boot with it",
        "name a release in inventory.yaml, such as release.image: quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64",
    )
}

/// Is there a place where nodes get the release from?
fn judge_release_image(seen: &RegistrySeen) -> Judged {
    if let Some(Refusal { what, fix }) = &seen.trouble {
        return Judged::refused(what.clone(), fix.clone());
    }
    if let Some((place, digest)) =
        seen.places.iter().find_map(|place| Some((place, place.found.as_ref().ok()?)))
    {
        return Judged::passed(format!("found in {}: {digest}", place.name));
    }
    let refusals: Vec<(&str, &Refusal)> = seen
        .places
        .iter()
        .filter_map(|place| Some((place.name.as_str(), place.found.as_ref().err()?)))
        .collect();
    let wrong = refusals.iter().map(|(name, refusal)| format!("{name}: {}", refusal.what)).collect();
    let mut fixes: Vec<&str> = refusals.iter().map(|(_, refusal)| refusal.fix.as_str()).collect();
    fixes.dedup();
    Judged::failed(wrong, fixes.join("; "))
}

/// Has every mirror the image? Nodes try the next place when one fails, so one that works will do.
fn judge_mirrors(seen: &RegistrySeen) -> Judged {
    let mirrors: Vec<&PlaceSeen> = seen.places.iter().filter(|place| place.is_mirror).collect();
    if mirrors.is_empty() {
        return Judged::not_applicable("no mirrors of the release image are set");
    }
    let refused: Vec<(&str, &Refusal)> =
        mirrors.iter().filter_map(|place| Some((place.name.as_str(), place.found.as_ref().err()?))).collect();
    let sentences: Vec<String> =
        refused.iter().map(|(name, refusal)| format!("{name}: {}", refusal.what)).collect();
    let Some((_, first)) = refused.first() else {
        let names: Vec<&str> = mirrors.iter().map(|place| place.name.as_str()).collect();
        return Judged::passed(format!("{} has it", names.join(", ")));
    };
    match refused.len() == mirrors.len() {
        true => Judged::failed(sentences, first.fix.clone()),
        false => Judged::warned(sentences, first.fix.clone()),
    }
}

/// Will nodes find every image?
fn judge_images(seen: &ImagesSeen) -> Judged {
    if let Some(Refusal { what, fix }) = &seen.trouble {
        return Judged::refused(what.clone(), fix.clone());
    }
    let told = |rows: &[Refusal]| {
        let mut fixes: Vec<&str> = rows.iter().map(|row| row.fix.as_str()).collect();
        fixes.dedup();
        (rows.iter().map(|row| row.what.clone()).collect::<Vec<_>>(), fixes.join("; "))
    };
    match (seen.missing.is_empty(), seen.odd.is_empty()) {
        (false, _) => {
            let (sentences, fix) = told(&seen.missing);
            Judged::failed(sentences, fix)
        }
        (true, false) => {
            let (sentences, fix) = told(&seen.odd);
            Judged::warned(sentences, fix)
        }
        (true, true) => {
            Judged::passed(format!("all {} images are where nodes will look for them", seen.looked_for))
        }
    }
}

/// Seconds of difference that matter to nobody: an answer takes its time, and is dated by the second.
const UNNOTICED: i64 = 5;
/// Seconds of difference from which certificates are refused as not yet valid, or etcd and leases go wrong.
const HARMFUL: i64 = 60;

fn judge_clock_skew(seen: &RegistrySeen) -> Judged {
    let dated = || seen.places.iter().filter_map(|place| Some((place, place.ahead?)));
    // The smallest difference: if a single registry agrees with us, it is the others that are wrong.
    let Some((place, ahead)) = dated().min_by_key(|(_, ahead)| ahead.abs()) else {
        return Judged::not_applicable("no registry reported its time");
    };
    let direction = if ahead > 0 { "behind" } else { "ahead of" };
    let sentence = format!("this host's clock is {} s {direction} that of {}", ahead.abs(), place.name);
    let fix = "set the clock, and start a time service: systemctl enable --now chronyd";
    match ahead.abs() {
        0..=UNNOTICED => Judged::passed(format!("this host's clock agrees with that of {}", place.name)),
        ..HARMFUL => Judged::warned(vec![sentence], fix),
        _ => Judged::failed(vec![sentence], fix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    fn place(name: &str, is_mirror: bool) -> PlaceSeen {
        PlaceSeen { name: name.to_owned(), is_mirror, found: Ok("sha256:ab".to_owned()), ahead: Some(0) }
    }

    fn refused(name: &str, is_mirror: bool) -> PlaceSeen {
        let refusal =
            Refusal { what: "401 Unauthorized".to_owned(), fix: "get a new pull secret".to_owned() };
        PlaceSeen { found: Err(refusal), ..place(name, is_mirror) }
    }

    fn seen(places: &[PlaceSeen]) -> RegistrySeen {
        RegistrySeen { places: places.to_vec(), trouble: None }
    }

    #[test]
    fn one_place_will_do_and_none_will_not() {
        let good = judge_release_image(&seen(&[refused("quay.io/ocp", false), place("lab:5000/ocp", true)]));
        assert_eq!(
            (good.verdict, good.seen[0].as_str()),
            (Verdict::Passed, "found in lab:5000/ocp: sha256:ab")
        );
        let none =
            judge_release_image(&seen(&[refused("quay.io/ocp", false), refused("lab:5000/ocp", true)]));
        assert_eq!(none.seen, ["quay.io/ocp: 401 Unauthorized", "lab:5000/ocp: 401 Unauthorized"]);
        assert_eq!((none.verdict, none.fix.as_deref()), (Verdict::Failed, Some("get a new pull secret")));
    }

    #[test]
    fn the_mirror_that_lacks_it_is_named() {
        assert_eq!(judge_mirrors(&seen(&[place("quay.io/ocp", false)])).verdict, Verdict::NotApplicable);
        assert_eq!(judge_mirrors(&seen(&[place("a/ocp", true)])).verdict, Verdict::Passed);
        let one = judge_mirrors(&seen(&[place("a/ocp", true), refused("b/ocp", true)]));
        assert_eq!((one.verdict, one.seen), (Verdict::Warned, vec!["b/ocp: 401 Unauthorized".to_owned()]));
        assert_eq!(
            judge_mirrors(&seen(&[place("quay.io/ocp", false), refused("b/ocp", true)])).verdict,
            Verdict::Failed
        );
    }

    #[test]
    fn images_that_are_missing_weigh_more_than_those_that_are_odd() {
        let row = |what: &str| Refusal { what: what.to_owned(), fix: "copy it".to_owned() };
        let all = ImagesSeen { looked_for: 3, ..ImagesSeen::default() };
        assert_eq!(judge_images(&all).verdict, Verdict::Passed);
        let odd = ImagesSeen { odd: vec![row("etcd: second mirror")], ..all };
        assert_eq!(judge_images(&odd).verdict, Verdict::Warned);
        let missing =
            judge_images(&ImagesSeen { missing: vec![row("etcd: nowhere"), row("cli: nowhere")], ..odd });
        assert_eq!((missing.verdict, missing.fix.as_deref()), (Verdict::Failed, Some("copy it")));
        assert_eq!(missing.seen, ["etcd: nowhere", "cli: nowhere"]);
        let trouble = ImagesSeen { trouble: Some(row("no pull secret")), ..ImagesSeen::default() };
        assert_eq!(judge_images(&trouble).verdict, Verdict::Failed);
    }

    #[test]
    fn a_clock_that_differs_is_told_with_its_direction() {
        let ahead = |seconds| {
            judge_clock_skew(&seen(&[PlaceSeen { ahead: Some(seconds), ..place("quay.io/ocp", false) }]))
        };
        assert_eq!(ahead(-3).verdict, Verdict::Passed);
        assert_eq!(ahead(20).verdict, Verdict::Warned);
        assert_eq!(ahead(300).seen, ["this host's clock is 300 s behind that of quay.io/ocp"]);
        assert_eq!(ahead(-300).seen, ["this host's clock is 300 s ahead of that of quay.io/ocp"]);
        assert_eq!(ahead(300).verdict, Verdict::Failed);
    }
}
