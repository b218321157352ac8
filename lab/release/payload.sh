#!/usr/bin/env bash
# The release image itself: the version operator's image, and over it one layer with everything the release consists of. Sourced
# by build.sh.

# release_image: prints its digest. As in a real one, the version operator's own CRDs are in its image's manifests/, all other
# manifests in release-manifests/ of the last layer.
release_image() {
  local shell own=$work/layer-cvo last=$work/layer-release config
  shell=$(shell_layer_again)
  mkdir -p "$own/manifests" "$own/usr/bin" "$last/release-manifests"
  cp "$manifests"/crds/0000_00_cluster-version-operator_*.yaml "$own/manifests/"
  find "$manifests/crds" "$manifests/manifests" -maxdepth 1 -type f ! -name '0000_00_cluster-version-operator_*' \
    -exec cp --target-directory="$last/release-manifests" {} +
  operator_manifests "$last/release-manifests"
  image_references >"$last/release-manifests/image-references"
  jq -n --arg version "$version" '{kind: "cincinnati-metadata-v0", $version, previous: [], metadata: {description: "hardway lab"}}' \
    >"$last/release-manifests/release-metadata"
  if [[ -e $bin/lab-operator ]]; then
    ln "$bin/lab-operator" "$own/usr/bin/lab-operator"
    config='{"Entrypoint": ["/usr/bin/lab-operator", "cluster-version-operator"]}'
  else
    config='{"Entrypoint": ["/bin/sh", "-c", "echo this release has no version operator >&2; exit 1"]}'
  fi
  config=$(jq -c --arg version "$version" '. + {Labels: {"io.openshift.release": $version}, Env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}' <<<"$config")
  image release "$config" "$shell" "$(layer "$own")" "$(layer "$last")"
}

shell_layer_again() {
  layer "$work/layer-shell"
}

# Manifests of the stand-in operators, if they are there. `image: lab-release/TAG` in them becomes that component's pull spec.
operator_manifests() {
  local folder=$here/../operators/manifests target=$1 file script=''
  [[ -d $folder ]] || return 0
  local tag
  for tag in "${!images[@]}"; do
    script+="s#lab-release/$tag\$#$registry/hardway-lab/${images[$tag]}#;"
  done
  for file in "$folder"/*.yaml; do
    sed -e "$script" "$file" >"$target/${file##*/}"
  done
}

# The ImageStream of a release. The Kubernetes version is told where tools look for it.
image_references() {
  local tag kubernetes
  kubernetes=$(sed -n 's/.*k8s.io\/kubernetes v\([0-9.]*\).*/\1/p' "$here/../../tools/kubernetes/kube/go.mod" | head -n 1)
  for tag in "${!images[@]}"; do
    printf '%s %s/hardway-lab/%s\n' "$tag" "$registry" "${images[$tag]}"
  done | LC_ALL=C sort | jq -Rn --arg version "$version" --arg kubernetes "kubernetes=$kubernetes" '{
    apiVersion: "image.openshift.io/v1", kind: "ImageStream", metadata: {name: $version},
    spec: {lookupPolicy: {local: false}, tags: [inputs | split(" ") | {
      name: .[0],
      annotations: (if .[0] == "hyperkube" then {"io.openshift.build.versions": $kubernetes} else {} end),
      from: {kind: "DockerImage", name: .[1]}}]}}'
}
