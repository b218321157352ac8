#!/usr/bin/env bash
# Starts a machine of a lab: a container of the node image that boots from an Ignition config. See README.md for the contract.
#
#   lab/node/run.sh LAB HOST --image IMAGE --ip IP/PREFIX --mac MAC --gateway IP --ignition FILE|URL
#                            [--registry HOST:PORT] [--memory SIZE] [--cpus N]
#
# A machine that is there is started, not made anew: it has booted already and keeps its disk.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common.sh"

main() {
  read_arguments "$@"
  "$here/../network/plug.sh" "$lab" "$host" --ip "$ip" --mac "$mac" --gateway "$gateway"
  if ! podman container exists "$name"; then
    create
    give_ignition || {
      podman rm --force --volumes "$name" >/dev/null
      die "the Ignition config could not be given to $name"
    }
  fi
  podman start "$name" >/dev/null
}

read_arguments() {
  lab=${1:?which lab?} host=${2:?which host?} image='' ip='' mac='' gateway='' ignition='' registry='' extra=()
  check_name "$lab"
  check_name "$host"
  shift 2
  while [[ $# -gt 0 ]]; do
    case $1 in
      --image) image=$2 ;;
      --ip) ip=$2 ;;
      --mac) mac=$2 ;;
      --gateway) gateway=$2 ;;
      --ignition) ignition=$2 ;;
      --registry) registry=$2 ;;
      --memory | --cpus) extra+=("$1=$2") ;;
      *) die "unknown option $1" ;;
    esac
    shift 2
  done
  local option
  for option in image ip mac gateway ignition; do
    [[ -n ${!option} ]] || die "--$option is missing"
  done
  name=hardway-$lab-$host
}

# Images and pods of the node lie in volumes: overlay file systems cannot be stacked.
create() {
  local limits volume volumes=()
  mapfile -t limits < <(podman_limits)
  for volume in containerd containers kubelet; do
    podman volume exists "$name-$volume" || podman volume create --label="hardway.lab=$lab" "$name-$volume" >/dev/null
    volumes+=(--volume="$name-$volume:/var/lib/$volume:exec")
  done
  podman create --name="$name" --hostname="$host" --label="hardway.lab=$lab" --network="ns:/run/netns/$name" \
    --privileged --systemd=always --cgroupns=private --pids-limit=-1 "${limits[@]}" --no-hosts --tmpfs=/run --tmpfs=/tmp "${volumes[@]}" "${extra[@]}" \
    --env=LAB_NAMESERVER="$gateway" --env=LAB_PLAIN_HTTP="$registry" "$image" >/dev/null
}

# A URL becomes a pointer, as the installer of a real machine would embed it.
give_ignition() {
  local file=$ignition
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if [[ $ignition == *://* ]]; then
    file=$work/pointer.ign
    jq -n --arg source "$ignition" '{ignition: {version: "3.2.0", config: {replace: {$source}}}}' >"$file"
  fi
  install -D -m 0600 "$file" "$work/hardway-lab/config.ign"
  podman cp "$work/hardway-lab" "$name:/etc/"
}

main "$@"
