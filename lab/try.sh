#!/usr/bin/env bash
# Boots a cluster's generated assets in a lab: bootstrap host and masters. Ends when every master has registered as a node and,
# where there are operators, the control plane runs on masters and bootstrapping is complete. Says how long each step took and
# what each machine needs, and leaves nothing behind.
#
#   lab/try.sh [--masters N] [--workers N] [--operators DIR] [--dir DIR] [--name LAB] [--keep]
#
# --dir keeps the working directory; --keep keeps the lab too (lab/down.sh LAB removes it). $HARDWAY names the program to try,
# else it is built.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

domain=ocp4.example.com gateway=192.168.126.1 registry=192.168.126.1:$REGISTRY_PORT

main() {
  read_arguments "$@"
  trap finish EXIT
  step "programs and images"
  local image release
  image=$("$here/node/build.sh")
  hardway=${HARDWAY:-$(build_hardway)}
  release=$(build_release)
  step "assets from the lab's release"
  assets "$image" "$release"
  step "bootstrap host: control plane up, first objects created"
  machine "$image" bootstrap "$dir/bootstrap.ign"
  wait_for 1200 "the first objects" objects_created
  step "masters registered as nodes"
  each_host master boot_node "$image"
  wait_for 900 "$masters masters" nodes_registered
  if [[ -d $operators ]]; then
    step "control plane on the masters, bootstrapping complete"
    wait_for 1800 "the end of bootstrapping" bootstrap_complete
  fi
  step "done"
  report
}

read_arguments() {
  masters=1 workers=0 operators=$here/operators dir='' lab=try-$$ keep=false
  while [[ $# -gt 0 ]]; do
    case $1 in
      --masters) masters=$2 && shift 2 ;;
      --workers) workers=$2 && shift 2 ;;
      --operators) operators=$2 && shift 2 ;;
      --dir) dir=$2 && shift 2 ;;
      --name) lab=$2 && shift 2 ;;
      --keep) keep=true && shift ;;
      *) die "unknown option $1" ;;
    esac
  done
  scratch=$(mktemp -d)
  dir=${dir:-$scratch/cluster}
}

# step TITLE: ends the step before it.
step() {
  [[ -z ${title:-} ]] || printf '%5d s  %s\n' $((SECONDS - began)) "$title" >>"$scratch/times"
  title=$1 began=$SECONDS
  printf '== %s\n' "$1" >&2
}

build_hardway() {
  (cd "$here/.." && cargo build --quiet --package hardway && echo "$PWD/target/debug/hardway")
}

# The lab's release has the CRDs and feature gates of the sample release.
build_release() {
  "$hardway" init --dir "$scratch/sample" --provider lab >&2
  "$hardway" create manifests --dir "$scratch/sample" >&2
  "$here/release/build.sh" --registry "$registry" --manifests "$scratch/sample/release" --operators "$operators"
}

# assets IMAGE RELEASE
assets() {
  "$hardway" init --dir "$dir" --provider lab --masters "$masters" --workers "$workers" --release "$2"
  sed -n 's/^- {name: \([^,]*\), role: \([^,]*\), ip: \([^,]*\), mac: "\([^"]*\)".*/\1 \2 \3 \4/p' "$dir/inventory.yaml" >"$scratch/hosts"
  "$here/network/up.sh" "$lab" --image "$1" --domain "$domain" --gateway "$gateway/24" --api-vip 192.168.126.10 \
    --ingress-vip 192.168.126.11 --hosts "$scratch/hosts"
  wait_for 60 "the registry" in_lab "$lab" curl --silent --fail --output /dev/null "http://$registry/v2/"
  local limits
  mapfile -t limits < <(podman_limits)
  in_lab "$lab" "$hardway" create ignition-configs --dir "$dir" --plain-http "${limits[@]/#/--podman-option=}"
}

# each_host ROLE COMMAND…: COMMAND… NAME for every host of a role.
each_host() {
  local name role
  while read -r name role _; do
    if [[ $role == "$1" ]]; then
      "${@:2}" "$name"
    fi
  done <"$scratch/hosts"
}

boot_node() {
  machine "$1" "$2" "$dir/ignition/$2.ign"
}

# machine IMAGE NAME IGNITION
machine() {
  local ip mac
  read -r _ _ ip mac < <(grep "^$2 " "$scratch/hosts")
  "$here/node/run.sh" "$lab" "$2" --image "$1" --ip "$ip/24" --mac "$mac" --gateway "$gateway" --ignition "$3" --registry "$registry"
}

# wait_for SECONDS WHAT COMMAND…
wait_for() {
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >"$scratch/answer" 2>&1; do
    if ((SECONDS > limit)); then
      tail -n 5 "$scratch/answer" >&2
      die "gave up waiting for $what"
    fi
    sleep 2
  done
}

objects_created() {
  podman exec "hardway-$lab-bootstrap" test -e /opt/openshift/create-manifests.done
}

bootstrap_complete() {
  [[ $(kubectl --namespace=kube-system get configmap bootstrap --output='jsonpath={.data.status}') == complete ]]
}

# Asked through the load balancer, as everybody outside would.
kubectl() {
  in_lab "$lab" "$("$here/../tools/kubernetes/build.sh" kubectl)/kubectl" --kubeconfig="$dir/auth/kubeconfig" --request-timeout=10s "$@"
}

# Each kubelet gets two certificates: one to be a client, one to serve.
nodes_registered() {
  [[ $(kubectl get nodes --selector=node-role.kubernetes.io/master --output=name | wc -l) == "$masters" ]] \
    && [[ $(kubectl get certificatesigningrequests --output=json | jq '[.items[] | select(.status.certificate != null)] | length') == $((2 * masters)) ]]
}

report() {
  kubectl get nodes,certificatesigningrequests
  printf '\n'
  cat "$scratch/times"
  podman stats --no-stream --format '{{.MemUsage}}  {{.CPU}}  {{.Name}}' | grep "hardway-$lab"
}

# What is needed to understand a failure is shown before everything goes.
finish() {
  local code=$?
  if [[ $code -ne 0 ]]; then
    podman exec "hardway-$lab-bootstrap" journalctl --no-pager --output=cat --lines=40 --unit=bootkube --unit=approve-csr --unit=release-image >&2 || true
    each_host master failure >&2 || true
  fi
  if [[ $keep == true ]]; then
    printf 'kept: lab/enter.sh %s COMMAND…; lab/down.sh %s\n' "$lab" "$lab" >&2
  else
    "$here/down.sh" "$lab"
  fi
  rm -rf "$scratch"
}

failure() {
  podman exec "hardway-$lab-$1" journalctl --no-pager --output=cat --lines=15 --unit=kubelet --unit=crio
}

main "$@"
