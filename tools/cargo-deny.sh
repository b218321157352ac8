#!/usr/bin/env bash
# Runs cargo-deny, installing the pinned version into the user's cache first.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"
version=0.20.2
root=$HARDWAY_CACHE/cargo-deny-$version
[[ -x $root/bin/cargo-deny ]] || step cargo-deny "building cargo-deny $version" cargo_install cargo-deny "$version" "$root"
exec "$root/bin/cargo-deny" "$@"
