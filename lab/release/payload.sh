#!/usr/bin/env bash
# The release image itself: the version operator's image, and over it one layer with everything the release consists of. Sourced
# by build.sh, whose variables it uses.
# shellcheck disable=SC2154

# release_image: prints its digest. As in a real one, the version operator's own CRDs are in its image's manifests/, all other
# manifests in release-manifests/ of the last layer.
release_image() {
  local own=$work/layer-cvo last=$work/layer-release config
  mkdir -p "$own/manifests" "$last/release-manifests"
  cp "$manifests"/crds/0000_00_cluster-version-operator_*.yaml "$own/manifests/"
  find "$manifests/crds" "$manifests/manifests" -maxdepth 1 -type f ! -name '0000_00_cluster-version-operator_*' \
    -exec cp --target-directory="$last/release-manifests" {} +
  operator_manifests "$last/release-manifests"
  image_references >"$last/release-manifests/image-references"
  jq -n --arg version "$version" '{kind: "cincinnati-metadata-v0", $version, previous: [], metadata: {description: "hardway lab"}}' \
    >"$last/release-manifests/release-metadata"
  config=$(entry_point /usr/bin/cluster-version-operator | jq -c --arg version "$version" '. + {Labels: {"io.openshift.release": $version}}')
  image release "$config" "$shell" ${operator:+"$operator"} "$(layer "$own")" "$(layer "$last")"
}

# Manifests of the stand-in operators, if they are there, with pull specs and version filled in.
operator_manifests() {
  local specs=() tag
  if [[ -z $operator || ! -d $operators/manifests ]]; then
    return 0
  fi
  for tag in "${!images[@]}"; do
    specs+=(--image "$tag=$registry/hardway-lab/${images[$tag]}")
  done
  "$bin/lab-operator" release-manifests --from "$operators/manifests" --to "$1" --version "$version" "${specs[@]}" >&2
}

# The ImageStream of a release. The Kubernetes version is told where tools look for it.
image_references() {
  local tag kubernetes
  kubernetes=$(sed -n 's/.*k8s.io\/kubernetes v\([0-9.]*\).*/\1/p' "$repo/tools/kubernetes/kube/go.mod" | head -n 1)
  for tag in "${!images[@]}"; do
    printf '%s %s/hardway-lab/%s\n' "$tag" "$registry" "${images[$tag]}"
  done | LC_ALL=C sort | jq -Rn --arg version "$version" --arg kubernetes "kubernetes=$kubernetes" '{
    apiVersion: "image.openshift.io/v1", kind: "ImageStream", metadata: {name: $version},
    spec: {lookupPolicy: {local: false}, tags: [inputs | split(" ") | {
      name: .[0],
      annotations: (if .[0] == "hyperkube" then {"io.openshift.build.versions": $kubernetes} else {} end),
      from: {kind: "DockerImage", name: .[1]}}]}}'
}
