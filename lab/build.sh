#!/usr/bin/env bash
# Builds what every lab needs: the node image and the release. Builds nothing twice.
#
#   lab/build.sh --registry HOST:PORT --hardway PROGRAM [--operators real] [--check]
#
# HOST:PORT is where the nodes will find the registry: the machine network's gateway. The node image is tagged
# localhost/hardway-lab-node:latest, the release hardway-lab/release:lab in the registry's storage. The release's CRDs and
# feature gates are those of hardway's sample release. With real operators no release is built: it is there, from compose.sh. --check builds
# nothing and fails if something is to be built.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

# Every step, in order, as the scripts that are called here name them.
export HARDWAY_STEPS='ignition kubectl lab-kubernetes lab-crictl lab-node-base lab-node lab-manifests
  etcd etcdctl kube-controller-manager kube-scheduler kube-proxy lab-hyperkube lab-pod lab-machine-config-operator
  lab-lab-operator lab-push'
HARDWAY_STEPS=${HARDWAY_STEPS//$'\n'/ }

main() {
  local stamp image release
  read_arguments "$@"
  if [[ $operators == real ]]; then
    real_operators
    return
  fi
  stamp=$LAB_CACHE/built-$(sources_hash)
  if is_built "$stamp"; then
    return 0
  elif [[ $check == true ]]; then
    die "the lab's images are not built, or its files have changed since they were"
  fi
  image=$("$here/node/build.sh")
  podman tag "$image" "$NODE_IMAGE"
  release=$(build_release)
  printf '%s %s\n' "$(image_id)" "${release##*@}" >"$stamp"
}

# real_operators: the node image alone, beside a release that somebody put together.
real_operators() {
  local image
  [[ -n $(released real) ]] || die "no release with real operators is in the lab's registry"
  if [[ $check == true ]]; then
    [[ -n $(image_id) ]] || die "the node image is not built"
    return
  fi
  image=$("$here/node/build.sh")
  podman tag "$image" "$NODE_IMAGE"
}

read_arguments() {
  check=false registry='' hardway='' operators=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --check) check=true && shift ;;
      --registry) registry=$2 && shift 2 ;;
      --hardway) hardway=$2 && shift 2 ;;
      --operators) operators=$2 && shift 2 ;;
      *) die "unknown option $1" ;;
    esac
  done
  [[ -n $registry && -n $hardway ]] || die "--registry and --hardway are required"
}

# Everything that the images are made of.
sources_hash() {
  cd "$here/.."
  {
    echo "$registry"
    find lab tools/kubernetes crates/hardway-release/tests/mco-stand-in crates/hardway-assets/sample-release -type f -print0 \
      | LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum | cut -c1-16
}

# is_built STAMP: the images are still those that were built, also if another checkout has built its own since.
is_built() {
  local image release
  [[ -e $1 ]] || return 1
  read -r image release <"$1"
  [[ $(image_id) == "$image" && $(released lab) == "$release" ]]
}

image_id() {
  podman image inspect --format='{{.Id}}' "$NODE_IMAGE" 2>/dev/null || true
}

build_release() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  step lab-manifests "generating the release's manifests" sample_manifests "$hardway" "$scratch"
  "$here/release/build.sh" --registry "$registry" --manifests "$scratch/release"
}

main "$@"
