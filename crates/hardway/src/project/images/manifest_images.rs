//! Images that a cluster's files name, and who names them.

use hardway_assets::Tree;
use hardway_assets::work_paths::MANIFEST_FOLDERS;
use hardway_assets::yaml::{self, LineIndex, Node, Value};
use hardway_release::node_images::{BOOTSTRAP_IMAGES, NamedImage};

/// An image that something will run.
#[derive(Clone, Debug)]
pub(crate) struct ImageUse {
    /// As it is named.
    pub(super) image: String,
    pub(super) named: NamedImage,
    /// Its name in the release, where it is of one.
    pub(super) component: Option<String>,
    /// Who runs it.
    pub(super) users: Vec<String>,
    /// Whether it is pulled only when somebody asks for it.
    pub(super) is_on_demand: bool,
    /// Where a person named it: file, line, column.
    pub(super) place: Option<(String, usize, usize)>,
}

/// What the release image itself is called here.
pub(super) const RELEASE: &str = "release";

impl ImageUse {
    /// Of a release; nothing where its name is none.
    pub(super) fn of_release(
        name: &str,
        image: &str,
        users: Vec<String>,
        is_on_demand: bool,
    ) -> Option<Self> {
        let component = Some(name.to_owned());
        Some(Self {
            image: image.to_owned(),
            named: image.parse().ok()?,
            component,
            users,
            is_on_demand,
            place: None,
        })
    }

    /// Whether it is one of the many of a release, and not the release itself.
    pub(super) fn is_component(&self) -> bool {
        self.component.as_deref().is_some_and(|name| name != RELEASE)
    }

    pub(super) fn is_of_bootstrap(&self) -> bool {
        self.component.as_deref().is_some_and(|name| name == RELEASE || BOOTSTRAP_IMAGES.contains(&name))
    }

    /// The same image, used by others too.
    pub(super) fn join(&mut self, other: Self) {
        self.users.extend(other.users);
        self.is_on_demand &= other.is_on_demand;
        if self.component.is_none() {
            self.component = other.component;
        }
        self.place = self.place.take().or(other.place);
    }
}

/// Every image that the files of the folder name for pods, catalogs, and the operating system.
pub(super) fn named_images(tree: &Tree) -> Vec<ImageUse> {
    let mut found = Vec::new();
    let files = MANIFEST_FOLDERS.iter().flat_map(|folder| tree.folder(folder));
    for (path, text) in files.filter_map(|(path, bytes)| Some((path, std::str::from_utf8(bytes).ok()?))) {
        let lines = LineIndex::of(text);
        // What is no YAML is said elsewhere.
        for node in yaml::read_all(text).unwrap_or_default() {
            of_object(&node, path, (text, &lines), &mut found);
        }
    }
    found
}

fn of_object(object: &Node, path: &str, (text, lines): (&str, &LineIndex), found: &mut Vec<ImageUse>) {
    if let Some(items) = object.get("items").and_then(list) {
        items.iter().for_each(|item| of_object(item, path, (text, lines), found));
    }
    let word = |node: &Node, key: &str| node.get(key).and_then(string).unwrap_or_default().to_owned();
    let kind = word(object, "kind");
    let metadata = object.get("metadata");
    let of_metadata = |key: &str| metadata.map(|metadata| word(metadata, key)).unwrap_or_default();
    let user = match of_metadata("namespace").as_str() {
        "" => format!("{kind} {}", of_metadata("name")),
        namespace => format!("{kind} {namespace}/{}", of_metadata("name")),
    };
    let mut images: Vec<(&Node, bool)> = Vec::new();
    let spec = object.get("spec");
    match kind.as_str() {
        "CatalogSource" => images.extend(spec.and_then(|spec| spec.get("image")).map(|node| (node, false))),
        "MachineConfig" => {
            images.extend(spec.and_then(|spec| spec.get("osImageURL")).map(|node| (node, false)))
        }
        "ImageStream" => {
            let tags = spec.and_then(|spec| spec.get("tags")).and_then(list).into_iter().flatten();
            let from =
                tags.filter_map(|tag| tag.get("from")).filter(|from| word(from, "kind") == "DockerImage");
            images.extend(from.filter_map(|from| from.get("name")).map(|node| (node, true)));
        }
        _ => of_pods(object, &mut images),
    }
    for (node, is_on_demand) in images {
        let Some(image) = string(node).filter(|image| !image.is_empty()) else { continue };
        // What is no name of an image, the API server takes and the kubelet refuses; `check manifests` is about that.
        let Ok(named) = image.parse() else { continue };
        let (line, column) = lines.line_and_column(text, node.span.start);
        let place = Some((path.to_owned(), line, column));
        let users = vec![user.clone()];
        found.push(ImageUse { image: image.to_owned(), named, component: None, users, is_on_demand, place });
    }
}

/// Pods may be in anything: `containers` and `initContainers` are looked for everywhere, and the environment variables by which
/// operators are told what to run.
fn of_pods<'n>(node: &'n Node, found: &mut Vec<(&'n Node, bool)>) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                if let ("containers" | "initContainers", Some(containers)) = (key.text.as_str(), list(value))
                {
                    found.extend(
                        containers
                            .iter()
                            .filter_map(|container| container.get("image"))
                            .map(|node| (node, false)),
                    );
                }
                if let ("env", Some(variables)) = (key.text.as_str(), list(value)) {
                    let is_image = |variable: &&Node| {
                        variable
                            .get("name")
                            .and_then(string)
                            .is_some_and(|name| name.starts_with("RELATED_IMAGE_"))
                    };
                    let values =
                        variables.iter().filter(is_image).filter_map(|variable| variable.get("value"));
                    found.extend(values.map(|node| (node, false)));
                }
                of_pods(value, found);
            }
        }
        Value::List(items) => items.iter().for_each(|item| of_pods(item, found)),
        _ => {}
    }
}

fn list(node: &Node) -> Option<&[Node]> {
    match &node.value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

fn string(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: n}
spec:
  template:
    spec:
      initContainers:
      - {name: i, image: quay.io/a/init:1}
      containers:
      - name: c
        image: busybox
        env:
        - {name: RELATED_IMAGE_OTHER, value: 'quay.io/a/other:2'}
        - {name: IMAGE, value: 'quay.io/a/no:2'}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: c, namespace: n}
spec: {image: 'quay.io/c/index:v4'}
---
apiVersion: image.openshift.io/v1
kind: ImageStream
metadata: {name: s, namespace: n}
spec: {tags: [{name: a, from: {kind: DockerImage, name: 'quay.io/s/a:1'}}]}
";

    #[test]
    fn images_are_found_with_who_runs_them_and_where() {
        let mut tree = Tree::default();
        tree.insert("manifests/mine.yaml", POD);
        tree.insert("manifests/broken.yaml", "a: [");
        let found = named_images(&tree);
        let shown: Vec<String> = found
            .iter()
            .map(|used| {
                let (file, line, column) = used.place.clone().unwrap();
                let mark = if used.is_on_demand { " on demand" } else { "" };
                format!("{} {} {file}:{line}:{column}{mark}", used.image, used.users[0])
            })
            .collect();
        assert_eq!(
            shown,
            [
                "quay.io/a/init:1 Deployment n/d manifests/mine.yaml:8:26",
                "busybox Deployment n/d manifests/mine.yaml:11:16",
                "quay.io/a/other:2 Deployment n/d manifests/mine.yaml:13:46",
                "quay.io/c/index:v4 CatalogSource n/c manifests/mine.yaml:19:15",
                "quay.io/s/a:1 ImageStream n/s manifests/mine.yaml:24:57 on demand",
            ]
        );
    }
}
