#!/usr/bin/env bash
# Puts a release together of real components and stand-ins, and prints its pull spec. `hardway lab release` calls it, and looks at what is
# given first.
#
#   lab/compose.sh --registry HOST:PORT --hardway PROGRAM [--programs DIR] [--from FOLDER --release TAG] [--version VERSION] [--stand-in NAME]…
#
# Its tag in the registry's storage is `real`; that of the release of stand-ins is `lab`. All options but --hardway are those of
# release/build.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

main() {
  local hardway='' arguments=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --hardway) hardway=$2 ;;
      *) arguments+=("$1" "$2") ;;
    esac
    shift 2
  done
  [[ -n $hardway ]] || die "--hardway is required"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  step lab-manifests "generating the release's manifests" sample_manifests "$hardway" "$scratch"
  "$here/release/build.sh" --manifests "$scratch/release" --tag real "${arguments[@]}"
}

main "$@"
