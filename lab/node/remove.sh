#!/usr/bin/env bash
# Switches a machine off for good: its container, its volumes and its network card go.
#
#   lab/node/remove.sh LAB HOST
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common.sh"

lab=${1:?which lab?} host=${2:?which host?}
name=hardway-$lab-$host
podman rm --force --ignore --volumes --time=5 "$name" >/dev/null
for volume in containerd containers kubelet; do
  podman volume rm --force "$name-$volume" >/dev/null 2>&1 || true
done
"$here/../network/unplug.sh" "$lab" "$host"
