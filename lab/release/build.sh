#!/usr/bin/env bash
# Builds the lab's release, puts it into the registry's storage, and prints its pull spec.
#
#   lab/release/build.sh --registry HOST:PORT --manifests DIR [--version VERSION] [--operators DIR] [--tag TAG]
#     [--programs DIR] [--from FOLDER --release TAG] [--stand-in NAME]…
#
# HOST:PORT is where nodes will find the registry: it is part of every pull spec. The storage, and with it the images, is the
# same for all labs ($LAB_CACHE/registry). DIR has the release's CRDs and feature gates, in the layout of the `release/` folder
# that hardway keeps. Operators are those of lab/operators unless another folder is named. Digests depend on content alone: a
# second call pushes nothing. --programs and --from name what is real (README.md): a folder of programs, and one that `hardway release
# mirror` made, of which TAG is the release; it then has the CRDs, too. --stand-in keeps a stand-in all the same.
# shellcheck disable=SC2034 # what is set here is used in the sourced files
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
. "$here/../common.sh"
. "$here/oci.sh"
. "$here/images.sh"
. "$here/real.sh"
. "$here/payload.sh"
. "$here/push.sh"

main() {
  local release
  read_arguments "$@"
  mkdir -p "$LAB_CACHE/registry"
  exec 9>"$LAB_CACHE/release.lock"
  flock 9
  work=$(mktemp -d "$LAB_CACHE/release.XXXXXX")
  trap 'stop_registry; rm -rf "$work"' EXIT
  layout=$work/layout architecture=$(go env GOARCH)
  programs
  read_real
  component_images
  release=$(release_image)
  step lab-push "pushing the release into the registry's storage" push_all
  echo "$registry/$repository@$release"
}

read_arguments() {
  registry='' manifests='' shell='' operator='' operators=$here/../operators version=4.18.99-lab repository=hardway-lab/release
  tag=lab given_programs='' given_release='' release_tag_there='' kept_stand_ins=' ' payload=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --registry) registry=$2 ;;
      --manifests) manifests=$2 ;;
      --version) version=$2 ;;
      --operators) operators=$2 ;;
      --tag) tag=$2 ;;
      --programs) given_programs=$2 ;;
      --from) given_release=$2 ;;
      --release) release_tag_there=$2 ;;
      --stand-in) kept_stand_ins+="$2 " ;;
      *) die "unknown option $1" ;;
    esac
    shift 2
  done
  [[ -z $given_release || -n $release_tag_there ]] || die "--from needs --release"
  [[ -n $registry ]] || die "--registry is required"
  [[ -d $manifests/crds && -d $manifests/manifests ]] || die "--manifests must name a folder with crds/ and manifests/"
}

main "$@"
