#!/usr/bin/env bash
# Removes a lab: machines, their volumes, services, namespaces, files. What other labs share stays: images and the registry's
# storage in the cache.
#
#   lab/down.sh LAB
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"

lab=${1:?which lab?}
check_name "$lab"
mapfile -t containers < <(podman ps --all --quiet --filter "label=hardway.lab=$lab")
if [[ ${#containers[@]} -gt 0 ]]; then
  podman rm --force --volumes --time=0 "${containers[@]}" >/dev/null
fi
mapfile -t volumes < <(podman volume ls --quiet --filter "label=hardway.lab=$lab")
if [[ ${#volumes[@]} -gt 0 ]]; then
  podman volume rm --force "${volumes[@]}" >/dev/null
fi
for namespace in /run/netns/"hardway-$lab" /run/netns/"hardway-$lab"-*; do
  [[ ! -e $namespace ]] || ip netns delete "${namespace##*/}"
done
rm -rf "${LAB_STATE:?}/$lab"
rmdir --ignore-fail-on-non-empty "$LAB_STATE" 2>/dev/null || true
