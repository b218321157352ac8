#!/usr/bin/env bash
# image.sh TAG [PROGRAM]: a container image with the program, built here unless one is given. More words go to podman build.
set -euo pipefail

if (($# == 0)); then
  sed -n '2s/^# //p' "$0" >&2
  exit 2
fi
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
tag=$1
program=${2:-}
shift $(($# < 2 ? $# : 2))
if [[ -z $program ]]; then
  cargo build --locked --release --package hardway --manifest-path "$here/../../Cargo.toml"
  program=${CARGO_TARGET_DIR:-$here/../../target}/release/hardway
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"
install -D --mode=0755 --strip "$program" "$root/usr/bin/hardway"
# As it was linked: the loader and each library at the path where the loader will look.
ldd "$root/usr/bin/hardway" | grep -o '/[^ ]*' | while read -r library; do
  install -D --mode=0755 "$(readlink -f "$library")" "$root$library"
done
podman build --quiet "$@" --tag "$tag" --file "$here/Containerfile" "$root"
