#!/usr/bin/env bash
# Runs a command with a lab's network: hardway itself, kubectl, curl, podman.
#
#   lab/enter.sh LAB COMMAND…
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

lab=${1:?which lab?}
shift
[[ -e /run/netns/hardway-$lab ]] || die "there is no lab named $lab"
in_lab "$lab" "$@"
