#!/usr/bin/env bash
# Builds the real coreos-installer from its crate, outside the workspace, and prints the folder that holds it:
# bin/coreos-installer, and fixtures/iso/ with the skeletons of real images that its own tests read.
# Three minutes on two cores, once: the folder is in the user's cache.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"
version=0.26.0
root=$HARDWAY_CACHE/coreos-installer-$version

# Of the crate's sources, which are there once it is built, only the images are kept.
build() {
  local sources
  cargo_install coreos-installer "$version" "$root"
  sources=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -maxdepth 2 -name "coreos-installer-$version" -print -quit)
  rm -rf "$root/fixtures"
  mkdir "$root/fixtures"
  cp -r "$sources/fixtures/iso" "$root/fixtures/iso.part"
  mv "$root/fixtures/iso.part" "$root/fixtures/iso"
}

[[ -d $root/fixtures/iso ]] || step coreos-installer "building coreos-installer $version" build
echo "$root"
