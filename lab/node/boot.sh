#!/usr/bin/env bash
# Switches a machine of a lab on. The first time it gets its Ignition config, as the installer of a real machine would embed it;
# a machine that has booted before keeps its disk.
#
#   lab/node/boot.sh LAB HOST --ignition FILE
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/../common.sh"

lab=${1:?which lab?} host=${2:?which host?}
[[ ${3:-} == --ignition && -n ${4:-} ]] || die "--ignition is required"
name=hardway-$lab-$host file=$4

# podman's word for a container that was never started.
if [[ $(podman container inspect --format='{{.State.Status}}' "$name") == created ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  install -D -m 0600 "$file" "$work/hardway-lab/config.ign"
  podman cp "$work/hardway-lab" "$name:/etc/"
fi
podman start "$name" >/dev/null
