#!/usr/bin/env bash
# Runs cargo-deny, installing the pinned version into the user's cache first.
set -euo pipefail
version=0.20.2
root=${XDG_CACHE_HOME:-$HOME/.cache}/hardway/cargo-deny-$version
[[ -x $root/bin/cargo-deny ]] || cargo install --quiet cargo-deny --version "$version" --locked --root "$root" >&2
exec "$root/bin/cargo-deny" "$@"
