//! One file to carry: what is in it, how it is gone on with, and what is said of one that is damaged.

use std::path::{Path, PathBuf};

use hardway_release::bundle::{Bundle, BundleError, BundlePlan, BundleWishes, Bundles, Written, write};
use hardway_release::{Digest, FetchOptions, PullSpec, Silent, upload_bundles};

use crate::fixture::blocking;
use crate::fixture::image::{Family, Image, Layer, Packing};
use crate::fixture::registry::Registry;
use crate::fixture::release::ReleaseImage;
use crate::fixture::world::{TAG, World, get, world};

/// A world, and a folder for bundles.
struct Site {
    world: World,
    dir: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("program"), "the program").unwrap();
        Self { world: world(), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn plan(&self, tag: &str, options: &FetchOptions) -> BundlePlan {
        let release = get(&self.world.registry.image(tag), options);
        let wishes = BundleWishes {
            program: self.path("program"),
            version: "1".to_owned(),
            ..BundleWishes::default()
        };
        blocking(BundlePlan::make(&release, &wishes, options, &Silent)).unwrap().unwrap()
    }

    fn write(&self, plan: &BundlePlan, name: &str) -> Result<Written, BundleError> {
        blocking(write(plan, &self.path(name), &self.world.options(), &Silent)).unwrap()
    }

    fn bundle(&self, name: &str) -> Vec<u8> {
        self.write(&self.plan(TAG, &self.world.options()), name).unwrap();
        std::fs::read(self.path(name)).unwrap()
    }
}

fn checked(path: &Path) -> Result<(), BundleError> {
    Bundle::open(path)?.check(&Silent)
}

/// Where each part's data is, as any reader of archives sees it.
fn members(bytes: &[u8]) -> Vec<(String, usize, usize)> {
    let mut archive = tar::Archive::new(bytes);
    let entries = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        (name, usize::try_from(entry.raw_file_position()).unwrap(), usize::try_from(entry.size()).unwrap())
    });
    entries.collect()
}

#[test]
fn everything_is_in_it_once_and_the_same_release_is_the_same_bytes() {
    let site = Site::new();
    let bytes = site.bundle("a.tar");
    assert!(!site.path("a.tar.partial").exists());
    checked(&site.path("a.tar")).unwrap();
    let members = members(&bytes);
    let names: Vec<&str> = members.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names[..5], ["hardway-bundle.json", "README", "oci-layout", "index.json", "hardway"]);
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len());
    for (name, at, size) in &members {
        if let Some(hex) = name.strip_prefix("blobs/sha256/") {
            assert_eq!(Digest::of(&bytes[*at..at + size]).hex(), hex);
        }
    }
    let bundles = Bundles::open(&[site.path("a.tar")]).unwrap();
    let images: Vec<&str> = bundles.images().iter().map(|image| image.name.as_str()).collect();
    assert_eq!(images, ["release", "cli", "signature of cli", "etcd"]);
    // With nothing in the cache, from another run.
    let other = tempfile::tempdir().unwrap();
    let options = crate::fixture::options(other.path(), &site.world.registry);
    let plan = site.plan(TAG, &options);
    blocking(write(&plan, &site.path("b.tar"), &options, &Silent)).unwrap().unwrap();
    assert_eq!(std::fs::read(site.path("b.tar")).unwrap(), bytes);
    // What only the bundle needed is not kept a second time.
    let passing: Vec<_> = walk(&other.path().join("passing"));
    assert_eq!(passing, Vec::<PathBuf>::new());
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// Wherever a run ended, the next one makes the same file of it, and keeps what is right.
#[test]
fn a_run_that_was_broken_off_goes_on() {
    let site = Site::new();
    let bytes = site.bundle("a.tar");
    let members = members(&bytes);
    let plan = site.plan(TAG, &site.world.options());
    let last = members.len() - 1;
    let (partial, file) = (site.path("b.tar.partial"), site.path("b.tar"));
    let mut cuts = vec![0, 1, 511, 512, bytes.len() - 1024, bytes.len() - 1, bytes.len()];
    cuts.extend(members.iter().flat_map(|(_, at, size)| [at - 512, *at, at + size / 2, at + size]));
    for cut in cuts {
        std::fs::write(&partial, &bytes[..cut]).unwrap();
        let written = site.write(&plan, "b.tar").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{cut}");
        let whole = |(_, at, size): &&(String, usize, usize)| at + size + (512 - size % 512) % 512 <= cut;
        assert_eq!(written.kept, members[1..last].iter().filter(whole).count(), "{cut}");
        std::fs::remove_file(&file).unwrap();
    }
    // A power cut leaves zeros where the last bytes were.
    let (_, at, size) = &members[last - 1];
    let mut zeros = bytes[..at + size].to_vec();
    zeros[*at..].fill(0);
    std::fs::write(&partial, zeros).unwrap();
    site.write(&plan, "b.tar").unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    // Nothing is left to do.
    assert_eq!(site.write(&plan, "b.tar").unwrap().kept, members.len() - 2);
    // Somebody else's beginning, and somebody else's file, stay.
    std::fs::write(site.path("c.tar.partial"), "other").unwrap();
    std::fs::write(site.path("d.tar"), "other".repeat(1000)).unwrap();
    for (name, said) in [("c.tar", "what was begun of another bundle"), ("d.tar", "no bundle")] {
        let error = site.write(&plan, name).unwrap_err();
        assert!(
            matches!(&error, BundleError::Occupied { .. }) && error.to_string().ends_with(said),
            "{error}"
        );
    }
}

/// A byte that is another, and a file that ends early: each is refused by the name of the part.
#[test]
fn what_is_wrong_is_named() {
    let site = Site::new();
    let bytes = site.bundle("a.tar");
    let bad = site.path("bad.tar");
    for (name, at, size) in members(&bytes) {
        for place in [at - 512, at - 400, at, at + size / 2, at + size - 1] {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            std::fs::write(&bad, changed).unwrap();
            let error = checked(&bad).unwrap_err().to_string();
            assert!(error.contains(&name) && error.contains("bad.tar"), "{name} at {place}: {error}");
        }
        for cut in [at - 512, at - 1, at, at + size / 2, at + size - 1] {
            std::fs::write(&bad, &bytes[..cut]).unwrap();
            let error = checked(&bad).unwrap_err().to_string();
            let is_named =
                error.contains(&format!("is cut off within {name}")) || error.contains("is not a bundle");
            assert!(is_named, "{name} cut at {cut}: {error}");
        }
    }
    for (changed, said) in [
        (bytes[..bytes.len() - 1].to_vec(), "(sum of the list of parts): it has 2047 of 2048 bytes"),
        ([&bytes[..], b"x"].concat(), "is damaged: there is more after it than a bundle has"),
        (
            vec![b'x'; 5000],
            "is not a bundle: it does not begin with hardway-bundle.json, the list of its parts",
        ),
        (Vec::new(), "is not a bundle: it is shorter than anything in a bundle"),
    ] {
        std::fs::write(&bad, changed).unwrap();
        let error = checked(&bad).unwrap_err().to_string();
        assert!(error.ends_with(said), "{error}");
    }
}

/// A list of parts that was changed to suit a changed part is right by itself; the images it names are not those of the release.
#[test]
fn a_blob_cannot_be_replaced_by_another_list_of_parts() {
    let site = Site::new();
    let bytes = site.bundle("a.tar");
    let layer = Image::new(Family::Oci, "amd64", vec![b"other".to_vec()]);
    let digest = layer.digest();
    let text = String::from_utf8(bytes[512..512 + members(&bytes)[0].2].to_vec()).unwrap();
    let known = site.world.cli.digest();
    let changed = text.replace(known.hex(), digest.hex());
    assert_ne!(changed, text);
    let mut forged = bytes.clone();
    forged[512..512 + changed.len()].copy_from_slice(changed.as_bytes());
    let (_, at, size) = members(&bytes).pop().unwrap();
    let sum = format!("{}  hardway-bundle.json\n", Digest::of(changed.as_bytes()).hex());
    forged[at..at + size].copy_from_slice(sum.as_bytes());
    std::fs::write(site.path("forged.tar"), forged).unwrap();
    assert!(Bundles::open(&[site.path("forged.tar")]).is_err());
}

#[test]
fn the_next_version_leaves_out_what_is_there() {
    let site = Site::new();
    let first = site.bundle("1.tar");
    let registry = &site.world.registry;
    let at = |digest: &Digest| format!("{}/ocp/art-dev@{digest}", registry.address());
    let new =
        Image::new(Family::Oci, "amd64", vec![Layer::new().file("usr/bin/new", "new").pack(Packing::Gzip)]);
    registry.pusher("ocp/art-dev").image(&new, None);
    let release = ReleaseImage {
        version: "4.18.100".to_owned(),
        images: vec![("cli".to_owned(), at(&site.world.cli.digest())), ("new".to_owned(), at(&new.digest()))],
        ..ReleaseImage::default()
    }
    .build();
    registry.pusher("ocp/release").image(&release, Some("4.18.100-x86_64"));
    let mut plan = site.plan("ocp/release:4.18.100-x86_64", &site.world.options());
    plan.leave_out(&[Bundle::open(&site.path("1.tar")).unwrap()]);
    site.write(&plan, "2.tar").unwrap();
    let second = std::fs::read(site.path("2.tar")).unwrap();
    let has =
        |bytes: &[u8], digest: &Digest| members(bytes).iter().any(|(name, ..)| name.ends_with(digest.hex()));
    assert!(has(&first, &site.world.cli.digest()) && !has(&second, &site.world.cli.digest()));
    assert!(has(&second, &new.digest()) && has(&second, &release.digest()));

    checked(&site.path("2.tar")).unwrap();
    let id = Bundle::open(&site.path("1.tar")).unwrap().id().to_string();
    let error = Bundles::open(&[site.path("2.tar")]).unwrap_err().to_string();
    assert!(
        error.contains("2.tar leaves out ") && error.contains(&format!("that of 4.18.99, {id}")),
        "{error}"
    );
    let both = Bundles::open(&[site.path("2.tar"), site.path("1.tar")]).unwrap();
    assert_eq!(both.first().contents().version, "4.18.100");
    // Everything gets where it should go.
    let there = Registry::open();
    let to = PullSpec::repository(&format!("{}/mirror/ocp", there.address())).unwrap();
    let options = crate::fixture::options(site.world.cache.path(), &there);
    let mirrored = blocking(upload_bundles(&both, &to, &options, &Silent)).unwrap().unwrap();
    assert_eq!(
        (mirrored.images, mirrored.copied),
        (7, 7),
        "two releases, cli under two tags with one signature, etcd, new"
    );
    assert!(there.revision_file("mirror/ocp", &new.digest()).exists());
}
