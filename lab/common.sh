#!/usr/bin/env bash
# What the lab's scripts share: how things are called. Sourced.
#
# Everything of a lab is found by its name: network namespaces hardway-LAB and hardway-LAB-HOST, containers and volumes with
# the same names and the label hardway.lab=LAB, files in $LAB_STATE/LAB. So taking down needs no records.

# A failure inside $(…) is a failure.
shopt -s inherit_errexit

LAB_FILES=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
. "$LAB_FILES/../tools/common.sh"
LAB_STATE=${LAB_STATE:-/run/hardway-lab}
LAB_CACHE=${HARDWAY_LAB_CACHE:-$HARDWAY_CACHE/lab}
REGISTRY_PORT=5000
NODE_IMAGE=localhost/hardway-lab-node:latest
export LAB_FILES LAB_STATE LAB_CACHE REGISTRY_PORT NODE_IMAGE

die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# Interface names may have 15 characters; whatever is derived from a lab's name must stay short.
check_name() {
  [[ $1 =~ ^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$ ]] || die "\"$1\" is not a valid name: use lower-case letters, digits and dashes, at most 32 characters"
}

# kept NAME COMMAND FILE…: the file or folder in the cache that COMMAND makes of the FILEs; made once, also when several ask.
kept() {
  local name=$1 command=$2 target lock
  shift 2
  mkdir -p "$LAB_CACHE"
  target=$LAB_CACHE/$name-$(sha256sum "$@" | cut -d' ' -f1 | sha256sum | cut -c1-16)
  exec {lock}>"$LAB_CACHE/$name.lock"
  flock "$lock"
  if [[ ! -e $target ]]; then
    rm -rf "$target.new"
    step "lab-$name" "building the lab's $name" "$command" "$target.new"
    mv "$target.new" "$target"
  fi
  exec {lock}>&-
  printf '%s\n' "$target"
}

# node_base: the archive with the Debian root file system of the nodes.
node_base() {
  kept node-base "$LAB_FILES/node/base.sh" "$LAB_FILES/node/base.sh" "$LAB_FILES/node/packages.txt"
}

# sample_manifests PROGRAM FOLDER: CRDs and feature gates of hardway's sample release, in the folder's release/.
sample_manifests() {
  "$1" init --dir "$2" --provider lab --release sample
  "$1" create manifests --dir "$2"
}

# released TAG: the digest of the release with this tag in the registry's storage, or nothing.
released() {
  cat "$LAB_CACHE/registry/docker/registry/v2/repositories/hardway-lab/release/_manifests/tags/$1/current/link" 2>/dev/null || true
}

# in_lab LAB COMMAND…: with the lab's network, and names resolved by the lab's own server. Unlike with `ip netns exec`, cgroups
# stay where they are, so that podman works too.
in_lab() {
  local lab=$1
  shift
  # shellcheck disable=SC2016 # the inner shell's
  nsenter --net="/run/netns/hardway-$lab" unshare --mount --propagation=slave \
    sh -ec 'mount --bind "$1" /etc/resolv.conf; shift; exec "$@"' sh "$LAB_STATE/$lab/resolv.conf" "$@"
}
