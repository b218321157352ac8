#!/usr/bin/env bash
# Real components in place of stand-ins: programs from a folder, or images and manifests of a real release. Sourced by build.sh, whose
# variables it uses. What is given was looked at before (`hardway lab release`); what is wrong all the same ends here.
# shellcheck disable=SC2154,SC2034

# read_real: fills `words` and `sources`: the word of each component's manifests, and where the real one comes from: programs, release,
# or nothing for a stand-in.
read_real() {
  local tag word needs
  declare -gA words=() sources=()
  while read -r tag word needs; do
    [[ -n $tag && $tag != \#* ]] || continue
    words[$tag]=${word#-}
    if [[ $kept_stand_ins == *" $tag "* ]]; then
      continue
    elif [[ -n $given_programs && -d $given_programs/$tag ]]; then
      sources[$tag]=programs
    elif [[ -n $given_release ]]; then
      sources[$tag]=release
    fi
  done <"$here/real.txt"
  [[ -z $given_release ]] || open_release
}

# open_release: the files of a release that `hardway release mirror` put into a folder, and its version. The tags of all its images begin
# with the release's own.
open_release() {
  payload=$work/payload
  mkdir -p "$payload"
  from_release "$release_tag_there" release-itself
  files_of release-itself release-manifests "$payload"
  files_of release-itself manifests "$payload"
  forget release-itself
  [[ -s $payload/release-manifests/image-references ]] || die "$given_release: $release_tag_there is not a release: it has no release-manifests/image-references"
  version=$(jq -re .version "$payload/release-manifests/release-metadata") || die "$given_release: release-metadata names no version"
}

# from_release TAG NAME: one image of the folder as NAME of ours, of this computer's architecture where there are several.
from_release() {
  skopeo copy --quiet --override-arch "$architecture" --override-os linux "oci:$given_release:$1" "oci:$layout:$2" >&2 \
    || die "$given_release has no image $1: mirror the whole release, or keep the stand-in with --stand-in"
}

# manifest_of NAME: an image's manifest, in our layout.
manifest_of() {
  local digest
  digest=$(jq -re --arg name "$1" '.manifests[] | select(.annotations["org.opencontainers.image.ref.name"] == $name).digest' "$layout/index.json")
  printf '%s\n' "$layout/blobs/sha256/${digest#sha256:}"
}

# forget NAME: the name goes out of the index, so that nobody pushes it; blobs stay.
forget() {
  jq -c --arg name "$1" '.manifests |= map(select(.annotations["org.opencontainers.image.ref.name"] != $name))' "$layout/index.json" >"$layout/index.json.new"
  mv "$layout/index.json.new" "$layout/index.json"
}

# files_of NAME FOLDER TO: a folder of an image, laid over each other layer by layer.
files_of() {
  local blob
  for blob in $(jq -r '.layers[].digest | ltrimstr("sha256:")' "$(manifest_of "$1")"); do
    # A layer without the folder is no error.
    tar -x -C "$3" --no-same-owner --wildcards -f "$layout/blobs/sha256/$blob" "$2/*" "./$2/*" 2>/dev/null || true
  done
}

# real_component TAG: one image.
real_component() {
  local tag=$1
  kinds[$tag]=real
  real_programs[$tag]=$tag
  case ${sources[$tag]} in
    release)
      from_release "$release_tag_there-$tag" "$tag"
      images[$tag]=$tag@sha256:$(basename "$(manifest_of "$tag")")
      ;;
    programs) images[$tag]=$tag@$(image "$tag" "$(given_entry_point "$tag")" "$shell" "$(tools_layer)" "$(given_layer "$tag")") ;;
  esac
}

# given_entry_point TAG: like that of other images. The service CA's pod must not be root's, and says no user: OpenShift's admission gives it
# one, and where hyperkube is a stand-in nobody does.
given_entry_point() {
  local config
  config=$(entry_point "$(program_of "$1")")
  if [[ $1 == service-ca-operator ]]; then
    config=$(jq -c '. + {User: "1001"}' <<<"$config")
  fi
  printf '%s\n' "$config"
}

# program_of TAG: what is started where nobody says what: the program of its name, else the first.
program_of() {
  local programs=("$given_programs/$1"/usr/bin/*)
  if [[ -x $given_programs/$1/usr/bin/$1 ]]; then
    echo "/usr/bin/$1"
  else
    echo "/usr/bin/$(basename "${programs[0]}")"
  fi
}

# given_layer TAG: the folder as it is, without what is payload.
given_layer() {
  local folder=$work/given-$1
  mkdir -p "$folder"
  cp -a "$given_programs/$1/." "$folder/"
  # The version operator alone reads its own from its image.
  [[ $1 == cluster-version-operator ]] || rm -rf "$folder/manifests"
  layer "$folder"
}

# foreign_crds TO: kinds that real operators create or watch, of components that are not real here: without the monitoring's they are Degraded,
# and etcd's operator adds no member before it has seen the Machines. In a real release they come with it.
foreign_crds() {
  local kind plural group version owner
  while read -r kind plural group version owner; do
    jq -n --arg kind "$kind" --arg plural "$plural" --arg group "$group" --arg version "$version" '{
      apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition",
      metadata: {
        name: "\($plural).\($group)",
        annotations: {"include.release.openshift.io/self-managed-high-availability": "true"}},
      spec: {
        $group, scope: "Namespaced",
        names: {$kind, listKind: "\($kind)List", $plural, singular: ($kind | ascii_downcase)},
        versions: [{name: $version, served: true, storage: true,
          schema: {openAPIV3Schema: {type: "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}' \
      >"$1/0000_05_${owner}_00_$plural.crd.yaml"
  done <<'KINDS'
ServiceMonitor servicemonitors monitoring.coreos.com v1 monitoring
PodMonitor podmonitors monitoring.coreos.com v1 monitoring
PrometheusRule prometheusrules monitoring.coreos.com v1 monitoring
Machine machines machine.openshift.io v1beta1 machine-api
KINDS
}

# standing_in TO: manifests of the stand-ins that are left.
standing_in() {
  local file word tag
  mkdir -p "$1"
  cp "$operators"/manifests/* "$1/"
  for tag in "${!sources[@]}"; do
    word=${words[$tag]}
    [[ -z $word ]] || rm -f "$1"/0000_*_"$word"_*.yaml
  done
}

# real_manifests TO: those of the real components.
real_manifests() {
  local tag to=$1 new=$work/real-manifests file
  mkdir -p "$new"
  for tag in "${!sources[@]}"; do
    [[ -n ${words[$tag]} && $tag != cluster-version-operator ]] || continue
    case ${sources[$tag]} in
      release) find "$payload/release-manifests" -maxdepth 1 -type f -name "0000_*_${words[$tag]}_*" -exec cp --target-directory="$new" {} + ;;
      programs) pack "$given_programs/$tag/manifests" "$new" --component "$tag" ;;
    esac
  done
  if [[ -n $given_release ]]; then
    at_home "$new"
  elif [[ ${#sources[@]} -gt 0 ]]; then
    foreign_crds "$to"
  fi
  # First all old ones go, then the new ones come: a CRD may be there once for each feature set.
  for file in "$new"/*; do
    [[ ! -e $file ]] || replace_crds "$file" "$to"
  done
  find "$new" -maxdepth 1 -type f -exec cp --target-directory="$to" {} +
}

# pack FROM TO [OPTION…]: placeholders of image-references become pull specs, the snapshot version this release's.
pack() {
  local from=$1 to=$2 specs=() tag
  shift 2
  for tag in "${!images[@]}"; do
    specs+=(--image "$tag=$registry/hardway-lab/${images[$tag]}")
  done
  "$bin/lab-operator" release-manifests --from "$from" --to "$to" --version "$version" "${specs[@]}" "$@" >&2
}

# at_home FOLDER: what a real release calls its images becomes what they are called here.
at_home() {
  local name spec
  while read -r name spec; do
    [[ -n ${images[$name]:-} ]] || continue
    printf 's|%s|%s|g\n' "$spec" "$registry/hardway-lab/${images[$name]}"
  done < <(jq -r '.spec.tags[] | "\(.name) \(.from.name)"' "$payload/release-manifests/image-references") >"$work/at-home.sed"
  find "$1" -maxdepth 1 -type f -exec sed -i -f "$work/at-home.sed" {} +
}

# replace_crds FILE FOLDER: a CRD that a real component brings takes the place of those of its name.
replace_crds() {
  local name
  grep -qE '^kind: "?CustomResourceDefinition' "$1" || return 0
  for name in $(sed -n 's/^  name: *\([a-z0-9.-]*\) *$/\1/p' "$1"); do
    { grep -lxE "  name: \"?$name\"?" "$2"/*.yaml 2>/dev/null || true; } | while read -r old; do
      ! grep -qE '^kind: "?CustomResourceDefinition' "$old" || rm -f "$old"
    done
  done
}

# release_crds TO: CRDs and feature gates of a real release, in the layout of the `release/` folder that hardway keeps.
release_crds() {
  local file
  mkdir -p "$1/crds" "$1/manifests"
  # The version operator's own are in its image, beside files that only it can fill in.
  for file in "$payload"/manifests/*.yaml "$payload"/release-manifests/*.yaml; do
    if grep -qE '^kind: "?CustomResourceDefinition' "$file"; then
      cp "$file" "$1/crds/"
    elif grep -qE '^ *"?kind"?: "?FeatureGate"?,?$' "$file"; then
      cp "$file" "$1/manifests/"
    fi
  done
}

# payload_tags: the names of a given release's images, one a line.
payload_tags() {
  [[ -z $given_release ]] || jq -r '.spec.tags[].name' "$payload/release-manifests/image-references"
}
