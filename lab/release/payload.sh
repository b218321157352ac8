#!/usr/bin/env bash
# The release image itself: the version operator's image, and over it one layer with everything the release consists of. Sourced
# by build.sh, whose variables it uses.
# shellcheck disable=SC2154

# release_image: prints its digest. As in a real one, the version operator's own CRDs are in its image's manifests/, all other
# manifests in release-manifests/ of the last layer.
release_image() {
  local own=$work/layer-cvo last=$work/layer-release config
  mkdir -p "$own/manifests" "$last/release-manifests"
  if [[ -n $given_release ]]; then
    manifests=$work/crds
    release_crds "$manifests"
  fi
  cp "$manifests"/crds/0000_00_cluster-version-operator_*.yaml "$own/manifests/"
  find "$manifests/crds" "$manifests/manifests" -maxdepth 1 -type f ! -name '0000_00_cluster-version-operator_*' \
    -exec cp --target-directory="$last/release-manifests" {} +
  real_manifests "$last/release-manifests"
  operator_manifests "$last/release-manifests"
  image_references >"$last/release-manifests/image-references"
  release_metadata >"$last/release-manifests/release-metadata"
  config=$(entry_point /usr/bin/cluster-version-operator | jq -c --arg version "$version" '. + {Labels: {"io.openshift.release": $version}}')
  if [[ -n ${sources[cluster-version-operator]:-} ]]; then
    image_over cluster-version-operator release "$config" "$(layer "$last")"
    return
  fi
  image release "$config" "$shell" ${operator:+"$operator"} "$(layer "$own")" "$(layer "$last")"
}

# Which components are stand-ins, which are real, and of how many there is nothing: `release info` prints it.
release_metadata() {
  jq -n --arg version "$version" --arg from "$(real_from)" --arg stands_in "$(of_kind stand-in)" --arg real "$(real_parts)" --arg empty "$(of_kind empty)" '{
    kind: "cincinnati-metadata-v0", $version, previous: [], metadata: ({
      description: "hardway lab",
      "stand-ins": $stands_in,
      real: $real,
      "without a program": ($empty | split(", ") | "\(length) components, whose image only says so")}
      + if $from == "" then {} else {"real from": $from} end)}'
}

# Where the real components come from that were given: nobody's folders, but what they are.
real_from() {
  local tag
  for tag in "${!sources[@]}"; do
    case ${sources[$tag]} in
      release) printf 'release %s\n' "$version" ;;
      programs) echo "a folder of programs" ;;
    esac
  done | LC_ALL=C sort -u | jq -Rrn '[inputs] | join(", ")'
}

# of_kind KIND: the components of a kind, in order.
of_kind() {
  local tag
  for tag in "${!kinds[@]}"; do
    [[ ${kinds[$tag]} != "$1" ]] || printf '%s\n' "$tag"
  done | LC_ALL=C sort | jq -Rrn '[inputs] | join(", ")'
}

# What is real: components, and programs inside of stand-ins.
real_parts() {
  local tag
  for tag in "${!real_programs[@]}"; do
    case ${kinds[$tag]} in
      real) printf '%s\n' "$tag" ;;
      *) printf '%s (in %s)\n' "${real_programs[$tag]// /, }" "$tag" ;;
    esac
  done | LC_ALL=C sort | jq -Rrn '[inputs] | join(", ")'
}

# Manifests of the stand-in operators, if they are there, with pull specs and version filled in.
operator_manifests() {
  if [[ -z $operator || ! -d $operators/manifests ]]; then
    return 0
  fi
  standing_in "$work/standing-in"
  pack "$work/standing-in" "$1"
}

# The ImageStream of a release. The Kubernetes version is told where tools look for it; what a real release says of its images stays.
image_references() {
  local tag said='{"spec": {"tags": []}}'
  [[ -z $given_release ]] || said=$(<"$payload/release-manifests/image-references")
  for tag in "${!images[@]}"; do
    printf '%s %s/hardway-lab/%s %s %s\n' "$tag" "$registry" "${images[$tag]}" "${kinds[$tag]}" "${sources[$tag]:-}"
  done | LC_ALL=C sort | jq -Rn --arg version "$version" --arg kubernetes "kubernetes=$(kubernetes_version)" --argjson said "$said" '
    ($said.spec.tags | map({key: .name, value: (.annotations // {})}) | from_entries) as $annotations | {
    apiVersion: "image.openshift.io/v1", kind: "ImageStream", metadata: {name: $version},
    spec: {lookupPolicy: {local: false}, tags: [inputs | split(" ") | {
      name: .[0],
      annotations: (if .[3] == "release" then $annotations[.[0]]
        elif .[0] == "hyperkube" then {"io.openshift.build.versions": $kubernetes} else {} end + {"hardway.dev/lab": .[2]}),
      from: {kind: "DockerImage", name: .[1]}}]}}'
}

# The version of a hyperkube that was given, as it says itself; else that of what the lab builds.
kubernetes_version() {
  local said=''
  if [[ ${sources[hyperkube]:-} == programs ]]; then
    said=$("$given_programs/hyperkube/usr/bin/hyperkube" kube-apiserver --version | sed -n 's/^Kubernetes v\([0-9.]*\).*/\1/p') || true
    [[ -n $said ]] || die "$given_programs/hyperkube/usr/bin/hyperkube: kube-apiserver --version does not say which Kubernetes it is"
    echo "$said"
  else
    sed -n 's/.*k8s.io\/kubernetes v\([0-9.]*\).*/\1/p' "$repo/tools/kubernetes/kube/go.mod" | head -n 1
  fi
}
