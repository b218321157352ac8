//! Every image is found as a node will look for it, in real registries with holes in them. Each hole is an image of its own, so that
//! one run shows them all, and that nothing else is said.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_release::Digest;
use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran, Work};
use serde_json::Value;

use crate::fixture::image::{Family, Image, Layer, Packing, list};
use crate::fixture::registry::{Registry, Setup};
use crate::fixture::release::ReleaseImage;
use crate::work;

/// The check of phase check-host that is shown here.
pub(crate) const SHOWN: &str = "images";

/// Where all images come from: nobody listens there.
const SOURCE: &str = "127.0.0.1:9";
const PASSWORD: &str = "user:hush-hush";

/// Registries that share their content, and one that has none.
struct Site {
    /// Without TLS: images are pushed here.
    plain: Registry,
    tls: Registry,
    guarded: Registry,
    stranger: Registry,
    expired: Registry,
    own_ca: Registry,
    empty: Registry,
    release: Image,
    work: Work,
    home: Work,
    /// Objects of `manifests/`.
    objects: String,
    /// Containers of the pod.
    containers: String,
    /// Mappings of the install-config.
    sources: String,
    /// What is to be said of each image: severity and kind.
    expected: BTreeMap<String, Vec<String>>,
    /// What the whole of a hole must mention, by image.
    mentioned: Vec<(String, String)>,
}

fn image(content: &str, architecture: &'static str) -> Image {
    Image::new(Family::Oci, architecture, vec![Layer::new().file("bin/x", content).pack(Packing::Gzip)])
}

impl Site {
    fn new() -> Self {
        let plain = Registry::open();
        let tls = |setup: Setup| Registry::same_as(&plain, Setup { is_tls: true, ..setup });
        let (good, guarded) =
            (tls(Setup::default()), tls(Setup { password: Some(PASSWORD), ..Setup::default() }));
        let (stranger, own_ca) = (tls(Setup::default()), tls(Setup::default()));
        let expired = tls(Setup { is_expired: true, ..Setup::default() });
        let empty = Registry::start(Setup { is_tls: true, ..Setup::default() });
        let mut site = Self {
            tls: good,
            guarded,
            stranger,
            expired,
            own_ca,
            empty,
            release: image("", "amd64"),
            work: work::empty(),
            home: work::empty(),
            objects: String::new(),
            containers: String::new(),
            sources: String::new(),
            expected: BTreeMap::new(),
            mentioned: Vec::new(),
            plain,
        };
        site.release();
        site
    }

    /// A release of which one image is missing, and others that this cluster does not run.
    fn release(&mut self) {
        let at = |digest: &Digest| format!("{SOURCE}/ocp/art-dev@{digest}");
        let pusher = self.plain.pusher("ocp/art-dev");
        let (operator, arm, tools) =
            (image("operator", "amd64"), image("operator", "arm64"), image("tools", "amd64"));
        [&operator, &arm].iter().for_each(|image| pusher.image(image, None));
        let (both, media_type) = list(&[&operator, &arm]);
        pusher.manifest(&both, media_type, None);
        let images = [
            ("operator", operator.digest()),
            ("both", Digest::of(&both)),
            ("lost", image("lost", "amd64").digest()),
            ("hosted-only", image("hosted", "amd64").digest()),
            ("preview-only", image("preview", "amd64").digest()),
            ("nobodys", image("nobody", "amd64").digest()),
            ("tools", tools.digest()),
        ];
        let user = |name: &str, kind: &str, annotations: &str| {
            let digest = &images.iter().find(|(other, _)| *other == name).unwrap().1;
            let text = format!(
                "apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: n\n  annotations:\n{annotations}spec:\n  image: {}\n",
                at(digest)
            );
            (format!("0000_50_{name}.yaml"), text.into_bytes())
        };
        let own = "    include.release.openshift.io/self-managed-high-availability: \"true\"\n";
        let hosted = "    include.release.openshift.io/ibm-cloud-managed: \"true\"\n";
        let preview = format!("{own}    release.openshift.io/feature-set: TechPreviewNoUpgrade\n");
        let release = ReleaseImage {
            images: images.iter().map(|(name, digest)| ((*name).to_owned(), at(digest))).collect(),
            extra: vec![
                user("operator", "Deployment", own),
                user("both", "DaemonSet", own),
                user("lost", "Deployment", own),
                user("hosted-only", "Deployment", hosted),
                user("preview-only", "Deployment", &preview),
                user("tools", "ImageStream", own),
            ],
            ..ReleaseImage::default()
        };
        self.release = release.build();
        self.plain.pusher("ocp/release").image(&self.release, Some("4.18.99-x86_64"));
        for repository in ["ocp/release", "ocp/art-dev"] {
            let mirror = format!("{}/{repository}", self.tls.address());
            self.map_config(&format!("{SOURCE}/{repository}"), &[&mirror], "");
        }
        self.expected.insert(at(&images[2].1), vec!["error missing".to_owned()]);
        self.expected.insert(at(&images[6].1), vec!["warning missing".to_owned()]);
        let copy = format!(
            "hardway release mirror {SOURCE}/ocp/release@{} --to {}/ocp/art-dev",
            self.release.digest(),
            self.tls.address()
        );
        self.mentioned.push((at(&images[2].1), copy));
        self.mentioned.push((at(&images[2].1), "install-config.yaml:".to_owned()));
    }

    fn map_config(&mut self, source: &str, mirrors: &[&str], policy: &str) {
        let _ = write!(
            self.sources,
            "- source: {source}\n  mirrors: [{}]\n",
            mirrors.iter().map(|m| format!("'{m}'")).collect::<Vec<_>>().join(", ")
        );
        if !policy.is_empty() {
            let _ = writeln!(self.sources, "  sourcePolicy: {policy}");
        }
    }

    /// Pushes an image to a repository; its name there by digest.
    fn push(&self, repository: &str) -> Image {
        let image = image(repository, "amd64");
        self.plain.pusher(repository).image(&image, Some("1"));
        image
    }

    /// A set of mirrors for digests.
    fn map(&mut self, source: &str, mirrors: &[String], policy: &str) {
        self.set("ImageDigestMirrorSet", "imageDigestMirrors", source, mirrors, policy);
    }

    fn set(&mut self, kind: &str, field: &str, source: &str, mirrors: &[String], policy: &str) {
        let count = self.objects.matches("kind:").count();
        let policy =
            if policy.is_empty() { String::new() } else { format!(", mirrorSourcePolicy: {policy}") };
        let _ = write!(
            self.objects,
            "---\napiVersion: config.openshift.io/v1\nkind: {kind}\nmetadata: {{name: set-{count}}}\nspec:\n  {field}:\n  - {{source: '{source}', mirrors: {mirrors:?}{policy}}}\n"
        );
    }

    /// A pod runs the image; `said` is what must be said of it.
    fn run(&mut self, image: &str, said: &[&str]) {
        let _ = writeln!(self.containers, "  - {{name: c, image: '{image}'}}");
        let said: Vec<String> = said.iter().map(|said| (*said).to_owned()).collect();
        if !said.is_empty() {
            self.expected.insert(image.to_owned(), said);
        }
    }

    /// An image of a repository of its own that is mapped to the same repository of these registries.
    fn case(&mut self, name: &str, mirrors: &[&str], policy: &str, said: &[&str]) -> String {
        let image = format!("{SOURCE}/{name}@{}", self.push(name).digest());
        self.case_of(name, &image, mirrors, policy, said);
        image
    }

    fn case_of(&mut self, name: &str, image: &str, mirrors: &[&str], policy: &str, said: &[&str]) {
        let mirrors: Vec<String> = mirrors.iter().map(|registry| format!("{registry}/{name}")).collect();
        self.map(&format!("{SOURCE}/{name}"), &mirrors, policy);
        self.run(image, said);
    }

    fn mention(&mut self, image: &str, text: impl Into<String>) {
        self.mentioned.push((image.to_owned(), text.into()));
    }

    /// The program, on a host that trusts the stranger.
    fn command(&self, args: &[&str]) -> Command {
        let trusted = |registries: &[&Registry]| {
            let all: String = registries.iter().map(|registry| registry.ca.as_str()).collect();
            all.lines().map(|line| format!("  {line}\n")).collect::<String>()
        };
        let bundle = trusted(&[&self.tls, &self.guarded, &self.expired, &self.empty]);
        let auths = format!(
            r#"{{"auths":{{"registry.example.com":{{"auth":"{0}"}},"{1}/h-good-login":{{"auth":"{2}"}},"{1}/h-bad-login":{{"auth":"{0}"}},"{1}/h-other-login/deeper":{{"auth":"{2}"}}}}}}"#,
            STANDARD.encode("a:b"),
            self.guarded.address(),
            STANDARD.encode(PASSWORD),
        );
        let line = INSTALL_CONFIG.lines().last().unwrap();
        let config = INSTALL_CONFIG.replace(line, &format!("pullSecret: '{auths}'"));
        let sources = if self.sources.is_empty() {
            String::new()
        } else {
            format!("imageDigestSources:\n{}", self.sources)
        };
        self.work
            .write("install-config.yaml", format!("{config}{sources}additionalTrustBundle: |\n{bundle}"));
        let image = format!("{SOURCE}/ocp/release@{}", self.release.digest());
        self.work.write("inventory.yaml", INVENTORY.replace("image: sample", &format!("image: {image}")));
        let pod = format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: default}}\nspec:\n  containers:\n{}",
            self.containers
        );
        self.work.write("manifests/mine.yaml", format!("{}{pod}", self.objects));
        let mut command = self.work.command(args);
        work::at_home(&mut command, self.home.root());
        self.home.write("stranger.pem", &self.stranger.ca);
        command.env("SSL_CERT_FILE", self.home.path("stranger.pem"));
        command
    }

    fn look(&self, more: &[&str]) -> (Value, Option<i32>) {
        let ran = Ran::of(self.command(&[&["check", "images", "-o", "json"], more].concat()));
        let value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
        (value, ran.code)
    }

    fn assert_all_found(&self) {
        let (found, code) = self.look(&[]);
        let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for hole in found["holes"].as_array().unwrap() {
            let text = |key: &str| hole[key].as_str().unwrap().to_owned();
            seen.entry(text("image")).or_default().push(format!("{} {}", text("severity"), text("kind")));
        }
        assert_eq!(seen, self.expected, "{found:#}");
        for (image, text) in &self.mentioned {
            let of_image =
                found["holes"].as_array().unwrap().iter().filter(|hole| hole["image"] == image.as_str());
            let all: String = of_image.map(ToString::to_string).collect();
            assert!(all.contains(text.as_str()), "{image}: {text:?} is not in {all}");
        }
        let has_errors = self.expected.values().flatten().any(|said| said.starts_with("error"));
        assert_eq!(code, Some(if has_errors { 2 } else { 0 }));
    }
}

impl Site {
    fn assert_told_to_people_and_pipelines(&self) {
        let run = |args: &[&str]| Ran::of(self.command(&[&["check", "images"], args].concat()));
        let errors = self.expected.values().filter(|said| said[0].starts_with("error")).count();
        run(&[])
            .expect(2)
            .says("error[images-missing]")
            .says(&format!("{errors} of "))
            .says("fix: copy it there: hardway release mirror")
            .says("warning: 1 image found, but not in the first place")
            .says("not checked: ")
            .does_not_say("hush");
        let junit = run(&["-o", "junit"]).expect(2).stdout;
        assert!(
            junit.contains(&format!("failures=\"{errors}\"")) && junit.contains("hardway images"),
            "{junit}"
        );
        let sarif = run(&["-o", "sarif"]).expect(2).json();
        assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), self.expected.len());
    }

    /// Machines would be made that wait for ever.
    fn assert_part_of_check_host(&self) {
        let found = Ran::of(self.command(&["check", "-o", "json", "--only", SHOWN])).expect(2).json();
        let check = &found["checks"][0];
        assert_eq!((&check["check"], &check["verdict"]), (&SHOWN.into(), &"failed".into()), "{found}");
        assert!(
            check.to_string().contains("lost: not found in any of the places where nodes look"),
            "{check}"
        );
    }
}

#[test]
fn without_mirrors_check_host_does_not_look_for_images() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let found = work.ok(&["check", "-o", "json", "--only", SHOWN]).json();
    assert_eq!(found["checks"][0]["verdict"], "not-applicable", "{found}");
    work.refused(2, &["check", "images"]).says("placeholders");
}

/// The mirrors of digests and of tags, and their order; what is in them, and who may have it.
#[test]
fn every_hole_is_found_and_nothing_else_is_said() {
    let mut site = Site::new();
    let address = |registry: &Registry| registry.address();
    let (tls, guarded, plain) = (address(&site.tls), address(&site.guarded), address(&site.plain));
    let (stranger, expired, own_ca, empty) =
        (address(&site.stranger), address(&site.expired), address(&site.own_ca), address(&site.empty));
    let (never, gone) = ("NeverContactSource", "127.0.0.1:10");
    let absent = format!("sha256:{}", "a".repeat(64));

    // What is in the mirror.
    site.case("g-plainly-there", &[&tls], "", &[]);
    site.case("g-never", &[&tls], never, &[]);
    site.push("h-absent");
    let name = format!("{SOURCE}/h-absent@{absent}");
    site.case_of("h-absent", &name, &[&tls], never, &["error missing"]);
    site.mention(&name, format!("skopeo copy --all docker://{name} docker://{tls}/h-absent@{absent}"));
    site.mention(&name, "NeverContactSource (manifests/mine.yaml:");
    let name = format!("{SOURCE}/h-no-repository@{absent}");
    site.case_of("h-no-repository", &name, &[&tls], "", &["error missing"]);
    let arm = image("arm", "arm64");
    site.plain.pusher("h-arm").image(&arm, None);
    let name = format!("{SOURCE}/h-arm@{}", arm.digest());
    site.case_of("h-arm", &name, &[&tls], "", &["error platform"]);
    site.mention(&name, "is not built for linux/amd64; it is for linux/arm64");
    site.plain.pusher("h-arm-list").image(&arm, None);
    let (only_arm, media_type) = list(&[&arm]);
    site.plain.pusher("h-arm-list").manifest(&only_arm, media_type, None);
    let name = format!("{SOURCE}/h-arm-list@{}", Digest::of(&only_arm));
    site.case_of("h-arm-list", &name, &[&tls], "", &["error platform"]);
    let (amd, media_list) = (image("both", "amd64"), |repository: &str, site: &Site| {
        let amd = image("both", "amd64");
        [&amd, &arm].iter().for_each(|image| site.plain.pusher(repository).image(image, None));
        let (both, media_type) = list(&[&amd, &arm]);
        site.plain.pusher(repository).manifest(&both, media_type, None);
        Digest::of(&both)
    });
    let name = format!("{SOURCE}/g-list@{}", media_list("g-list", &site));
    site.case_of("g-list", &name, &[&tls], "", &[]);
    let name = format!("{SOURCE}/h-hollow-list@{}", media_list("h-hollow-list", &site));
    fs_err::remove_file(site.plain.revision_file("h-hollow-list", &amd.digest())).unwrap();
    site.case_of("h-hollow-list", &name, &[&tls], "", &["error missing"]);
    let damaged = site.push("h-damaged");
    fs_err::write(site.plain.blob_file(&damaged.digest()), &image("other", "amd64").manifest).unwrap();
    let name = format!("{SOURCE}/h-damaged@{}", damaged.digest());
    site.case_of("h-damaged", &name, &[&tls], "", &["error damaged"]);
    let unread = site.push("h-no-config");
    fs_err::remove_file(site.plain.blob_link("h-no-config", &Digest::of(&unread.blobs[0]))).unwrap();
    let name = format!("{SOURCE}/h-no-config@{}", unread.digest());
    site.case_of("h-no-config", &name, &[&tls], "", &["error missing"]);

    // Who may have it, and whether it is who it says.
    let name = site.case("h-expired", &[&expired], "", &["error untrusted"]);
    site.mention(&name, "xpired");
    let name = site.case("h-stranger", &[&stranger], "", &["error untrusted"]);
    site.mention(&name, "what this host trusts, nodes do not");
    let port = tls.rsplit(':').next().unwrap().to_owned();
    site.case("h-other-name", &[&format!("localhost:{port}")], "", &["error untrusted"]);
    let name = site.case("h-no-tls", &[&plain], "", &["error untrusted"]);
    site.mention(&name, "insecureRegistries");
    let name = site.case("h-no-login", &[&guarded], "", &["error refused"]);
    site.mention(&name, format!("add an entry for {guarded} to the pull secret"));
    site.case("h-bad-login", &[&guarded], "", &["error refused"]);
    site.case("h-other-login", &[&guarded], "", &["error refused"]);
    site.case("h-good-login", &[&guarded], "", &[]);
    site.case("g-own-ca", &[&own_ca], "", &[]);
    site.case("h-nobody-there", &[gone], "", &["error unreachable"]);

    // Which mapping counts, and what it is for.
    let narrow = site.push("h-narrow/other");
    let name = format!("{SOURCE}/h-narrow/other@{}", narrow.digest());
    site.map(&format!("{SOURCE}/h-narrow/one"), &[format!("{tls}/h-narrow/one")], "");
    site.run(&name, &["error unreachable"]);
    site.mention(&name, format!("none covers it; the closest is {SOURCE}/h-narrow/one"));
    site.mention(&name, format!("add a mapping for {SOURCE}/h-narrow/other"));
    let name = format!("{SOURCE}/h-prefixed@{}", site.push("h-prefixed").digest());
    site.map(&format!("{SOURCE}/h-pre"), &[format!("{tls}/h-pre")], "");
    site.run(&name, &["error unreachable"]);
    site.push("h-shadow/x");
    let name = format!("{SOURCE}/h-shadow/x@{}", site.push("h-shadow/x").digest());
    site.map(&format!("{SOURCE}/h-shadow"), &[format!("{tls}/h-shadow")], "");
    site.map(&format!("{SOURCE}/h-shadow/x"), &[format!("{empty}/h-shadow/x")], "");
    site.run(&name, &["error missing"]);
    let name = site.case("h-second", &[&empty, &tls], "", &["warning fallback"]);
    site.mention(&name, format!("docker://{empty}/h-second@"));
    site.case("h-first-gone", &[gone, &tls], "", &["warning fallback"]);
    site.case("h-first-expired", &[&expired, &tls], "", &["warning fallback"]);
    site.case("h-first-of-a-stranger", &[&stranger, &tls], "", &["warning fallback"]);
    site.case("h-contradiction", &[&empty, &tls], "", &["warning fallback"]);
    site.map(&format!("{SOURCE}/h-contradiction"), &[format!("{tls}/h-contradiction")], "");
    let own = |site: &Site, name: &str| format!("{tls}/{name}@{}", site.push(name).digest());
    let name = own(&site, "h-source-only");
    site.map(&format!("{tls}/h-source-only"), &[format!("{empty}/h-source-only")], "");
    site.run(&name, &["warning source-only"]);
    let name = own(&site, "h-source-only-gone");
    site.map(&format!("{tls}/h-source-only-gone"), &[format!("{gone}/h-source-only-gone")], "");
    site.run(&name, &["warning source-only"]);
    let name = own(&site, "h-gap");
    site.map(&format!("{tls}/h-gap"), &[format!("{empty}/h-gap")], never);
    site.run(&name, &["error missing"]);
    site.mention(&name, format!("registries.conf blocks {tls}/h-gap"));
    let name = own(&site, "g-unmapped");
    site.run(&name, &[]);
    let name = format!("{SOURCE}/h-host-alone@{}", site.push("h-host-alone").digest());
    site.map(&format!("{SOURCE}/h-host-alone"), std::slice::from_ref(&tls), "");
    site.run(&name, &["error missing"]);
    site.set(
        "ImageContentSourcePolicy",
        "repositoryDigestMirrors",
        &format!("{SOURCE}/g-old-form"),
        &[format!("{tls}/g-old-form")],
        "",
    );
    let name = format!("{SOURCE}/g-old-form@{}", site.push("g-old-form").digest());
    site.run(&name, &[]);

    // Tags.
    site.push("h-tag");
    site.map(&format!("{SOURCE}/h-tag"), &[format!("{tls}/h-tag")], "");
    let name = format!("{SOURCE}/h-tag:1");
    site.run(&name, &["error unreachable"]);
    site.mention(&name, "ImageTagMirrorSet");
    let tags = |site: &mut Site, name: &str| {
        site.set(
            "ImageTagMirrorSet",
            "imageTagMirrors",
            &format!("{SOURCE}/{name}"),
            &[format!("{tls}/{name}")],
            "",
        );
    };
    let digest = site.push("h-tags-only").digest();
    tags(&mut site, "h-tags-only");
    let name = format!("{SOURCE}/h-tags-only@{digest}");
    site.run(&name, &["error unreachable"]);
    site.mention(&name, "ImageDigestMirrorSet");
    site.push("g-tag");
    tags(&mut site, "g-tag");
    site.run(&format!("{SOURCE}/g-tag:1"), &[]);
    site.push("h-no-tag");
    tags(&mut site, "h-no-tag");
    site.run(&format!("{SOURCE}/h-no-tag:2"), &["error missing"]);
    site.push("h-short");
    site.run("h-short:1", &["warning short-name"]);
    site.run("h-short-absent:1", &["error missing"]);

    // What the object Image cluster says.
    let name = own(&site, "h-blocked");
    site.run(&name, &["error blocked"]);
    site.case("h-blocked-mirror", &[&tls], "", &["error blocked"]);
    let name = format!("a.blocked.test/x@{absent}");
    site.run(&name, &["error blocked"]);
    site.case("g-insecure", &[&plain], "", &[]);
    let name = format!("{plain}/g-insecure-own@{}", site.push("g-insecure-own").digest());
    site.run(&name, &[]);
    let ca: String = site.own_ca.ca.lines().map(|line| format!("    {line}\n")).collect();
    let _ = write!(
        site.objects,
        "---\napiVersion: config.openshift.io/v1\nkind: Image\nmetadata: {{name: cluster}}\nspec:\n  additionalTrustedCA: {{name: cas}}\n  registrySources:\n    \
         insecureRegistries: ['{plain}/g-insecure', '{plain}/g-insecure-own']\n    blockedRegistries: ['{tls}/h-blocked', '{tls}/h-blocked-mirror', '*.blocked.test']\n    \
         containerRuntimeSearchRegistries: ['{tls}']\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: cas, namespace: openshift-config}}\ndata:\n  {}: |\n{ca}",
        own_ca.replace(':', ".."),
    );

    // Signatures.
    let name = site.case("h-unsigned", &[&tls], "", &["error unsigned"]);
    site.mention(&name, ".sig");
    let signed = site.push("g-signed");
    let signature = image("signature", "amd64");
    site.plain.pusher("g-signed").image(&signature, Some(&format!("sha256-{}.sig", signed.digest().hex())));
    site.case("g-signed", &[&tls], "", &[]);
    let _ = write!(
        site.objects,
        "---\napiVersion: config.openshift.io/v1\nkind: ClusterImagePolicy\nmetadata: {{name: p}}\nspec: {{scopes: ['{SOURCE}/h-unsigned', '{SOURCE}/g-signed']}}\n"
    );

    // Other objects that name images, and a MachineConfig that says where to look.
    for (kind, field, name) in
        [("CatalogSource", "image", "h-catalog"), ("MachineConfig", "osImageURL", "h-os")]
    {
        let name = format!("{tls}/{name}@{absent}");
        let _ = write!(
            site.objects,
            "---\napiVersion: x/v1\nkind: {kind}\nmetadata: {{name: n}}\nspec: {{{field}: '{name}'}}\n"
        );
        site.expected.insert(name, vec!["error missing".to_owned()]);
    }
    let conf = format!(
        "[[registry]]\nlocation = \"{SOURCE}/g-drop-in\"\n[[registry.mirror]]\nlocation = \"{tls}/g-drop-in\"\n"
    );
    let name = format!("{SOURCE}/g-drop-in@{}", site.push("g-drop-in").digest());
    site.run(&name, &[]);
    let _ = write!(
        site.objects,
        "---\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {{name: 99-registries}}\nspec:\n  config:\n    ignition: {{version: 3.4.0}}\n    storage:\n      files:\n      \
         - {{path: /etc/containers/registries.conf.d/50-own.conf, contents: {{source: 'data:;base64,{}'}}}}\n",
        STANDARD.encode(conf)
    );
    let holes = site.expected.len();
    site.assert_all_found();
    assert!(holes >= 40, "{holes}");
    site.assert_told_to_people_and_pipelines();
    site.assert_part_of_check_host();
}
