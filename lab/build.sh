#!/usr/bin/env bash
# Builds what every lab needs: the node image and the release. Builds nothing twice.
#
#   lab/build.sh --registry HOST:PORT --hardway PROGRAM [--check]
#
# HOST:PORT is where the nodes will find the registry: the machine network's gateway. The node image is tagged
# localhost/hardway-lab-node:latest, the release hardway-lab/release:lab in the registry's storage. The release's CRDs and
# feature gates are those of hardway's sample release. --check builds nothing and fails if something is to be built.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

main() {
  local stamp image release
  read_arguments "$@"
  stamp=$LAB_CACHE/built-$(sources_hash)
  if is_built "$stamp"; then
    return 0
  elif [[ $check == true ]]; then
    die "the lab's images are not built, or its files have changed since"
  fi
  image=$("$here/node/build.sh")
  podman tag "$image" "$NODE_IMAGE"
  release=$(build_release)
  printf '%s %s\n' "$(image_id)" "${release##*@}" >"$stamp"
}

read_arguments() {
  check=false registry='' hardway=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --check) check=true && shift ;;
      --registry) registry=$2 && shift 2 ;;
      --hardway) hardway=$2 && shift 2 ;;
      *) die "unknown option $1" ;;
    esac
  done
  [[ -n $registry && -n $hardway ]] || die "--registry and --hardway are needed"
}

# Everything that the images are made of.
sources_hash() {
  cd "$here/.."
  {
    echo "$registry"
    find lab tools/kubernetes crates/hardway-release/tests/mco-stand-in crates/hardway-assets/sample-release -type f -print0 \
      | LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum | cut -c1-16
}

# is_built STAMP: the images are still those that were built, also if another checkout has built its own since.
is_built() {
  local image release
  [[ -e $1 ]] || return 1
  read -r image release <"$1"
  [[ $(image_id) == "$image" && $(released) == "$release" ]]
}

image_id() {
  podman image inspect --format='{{.Id}}' "$NODE_IMAGE" 2>/dev/null || true
}

# What the release's tag points to.
released() {
  cat "$LAB_CACHE/registry/docker/registry/v2/repositories/hardway-lab/release/_manifests/tags/lab/current/link" 2>/dev/null || true
}

build_release() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  step lab-manifests "the release's manifests" manifests
  "$here/release/build.sh" --registry "$registry" --manifests "$scratch/release"
}

manifests() {
  "$hardway" init --dir "$scratch" --provider lab --release sample
  "$hardway" create manifests --dir "$scratch"
}

main "$@"
