#!/usr/bin/env bash
# Builds the real coreos-installer from its crate, outside the workspace, and prints the folder that holds it:
# bin/coreos-installer, and fixtures/iso/ with the skeletons of real images that its own tests read.
# Three minutes on two cores, once: the folder is in the user's cache.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"
version=0.26.0
root=$HARDWAY_CACHE/coreos-installer-$version

build() {
  # From elsewhere, so that neither this workspace's settings nor its target folder count.
  cd /
  cargo install --quiet coreos-installer --version "$version" --locked --root "$root"
}

copy_fixtures() {
  local sources
  sources=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -maxdepth 2 -name "coreos-installer-$version" -print -quit)
  rm -rf "$root/fixtures"
  mkdir "$root/fixtures"
  cp -r "$sources/fixtures/iso" "$root/fixtures/iso.part"
  mv "$root/fixtures/iso.part" "$root/fixtures/iso"
}

[[ -x $root/bin/coreos-installer ]] || step coreos-installer "coreos-installer $version" build
[[ -d $root/fixtures/iso ]] || step coreos-installer-fixtures "coreos-installer's images" copy_fixtures
echo "$root"
