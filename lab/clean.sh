#!/usr/bin/env bash
# Removes the images that were built for labs. The programs in them stay in the cache: only they take long to build.
#
#   lab/clean.sh
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"

if [[ -n $(podman ps --all --quiet --filter=label=hardway.lab) ]]; then
  echo "the images are kept: another lab is using them" >&2
  exit 0
fi
mapfile -t images < <(podman images --no-trunc --quiet --filter='reference=localhost/hardway-lab-node' --filter='reference=*/hardway-lab/*' | sort -u)
if [[ ${#images[@]} -gt 0 ]]; then
  podman rmi --force "${images[@]}" >/dev/null
fi
rm -rf "$LAB_CACHE/registry" "$LAB_CACHE"/pushed-* "$LAB_CACHE"/built-*
