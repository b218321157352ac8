#!/usr/bin/env bash
# Takes a machine's network card away again, and its namespace.
#
#   lab/network/unplug.sh LAB HOST
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/../common.sh"

machine=hardway-${1:?which lab?}-${2:?which host?}
if [[ -e /run/netns/$machine ]]; then
  # The namespace lives on while a process is in it; its card must go now.
  ip -n "$machine" link delete eth0 2>/dev/null || true
  ip netns delete "$machine"
fi
