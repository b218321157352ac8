#!/usr/bin/env bash
# Downloads axe-core, which finds what on a page is hard to use for people with a keyboard or a screen reader, and prints the
# folder that holds axe.min.js. For tests alone: nothing of it is in the program. Some seconds, once: the folder is in the user's cache.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"
version=4.10.3
sum=0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292
root=$HARDWAY_CACHE/axe-core-$version

download() {
  local work
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # now: the variable is gone by then
  trap "rm -rf '$work'" EXIT
  curl --fail --silent --show-error --location --retry 3 --output "$work/package.tgz" \
    "https://registry.npmjs.org/axe-core/-/axe-core-$version.tgz"
  echo "$sum  $work/package.tgz" | sha256sum --check --quiet
  tar -xzf "$work/package.tgz" -C "$work" package/axe.min.js package/LICENSE
  mkdir -p "$root"
  mv "$work/package/LICENSE" "$root/LICENSE"
  mv "$work/package/axe.min.js" "$root/axe.min.js"
}

[[ -e $root/axe.min.js ]] || step axe-core "downloading axe-core $version" download
echo "$root"
