#!/usr/bin/env bash
# Runs cargo-deny, installing the pinned version into the user's cache first.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"
version=0.20.2
root=$HARDWAY_CACHE/cargo-deny-$version
if [[ ! -x $root/bin/cargo-deny ]]; then
  # From elsewhere, so that neither this workspace's settings nor its target folder count.
  install() { cd / && cargo install --quiet cargo-deny --version "$version" --locked --root "$root"; }
  step cargo-deny "cargo-deny $version" install
fi
exec "$root/bin/cargo-deny" "$@"
