#!/usr/bin/env bash
# Builds the real coreos-installer from its crate, outside the workspace, and prints the folder that holds it:
# bin/coreos-installer, and fixtures/iso/ with the skeletons of real images that its own tests read.
# Three minutes on two cores, once: the folder is in the user's cache.
set -euo pipefail
version=0.26.0
root=${XDG_CACHE_HOME:-$HOME/.cache}/hardway/coreos-installer-$version
if [[ ! -x $root/bin/coreos-installer ]]; then
  echo "building coreos-installer $version" >&2
  # From elsewhere, so that neither this workspace's settings nor its target folder count.
  (cd / && cargo install --quiet coreos-installer --version "$version" --locked --root "$root") >&2
fi
if [[ ! -d $root/fixtures/iso ]]; then
  sources=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -maxdepth 2 -name "coreos-installer-$version" -print -quit)
  mkdir -p "$root/fixtures"
  cp -r "$sources/fixtures/iso" "$root/fixtures/iso"
fi
echo "$root"
