#!/usr/bin/env bash
# Makes a lab's network: one segment in a network namespace of its own, with DNS, a load balancer and a registry on it. The
# computer's own network is not touched; nothing in the lab reaches the outside.
#
#   lab/network/up.sh LAB --image IMAGE --domain DOMAIN --gateway IP/PREFIX --api-vip IP --ingress-vip IP --hosts FILE
#                         [--dnsmasq FILE] [--haproxy FILE]
#
# IMAGE is the node image (lab/node/build.sh); it holds the three programs. --hosts has a line for each host: NAME ROLE IP MAC.
# Configurations that were made elsewhere take the place of those made from it; they see their own folder as /lab. Run again,
# the services get their new configuration.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/../common.sh"
. "${BASH_SOURCE[0]%/*}/services.sh"

main() {
  read_arguments "$@"
  check_inotify "$(grep -c . "$hosts")"
  mkdir -p "$state" "$LAB_CACHE/registry"
  segment
  if [[ -n $dnsmasq ]]; then cp "$dnsmasq" "$state/dnsmasq.conf"; else dnsmasq_conf >"$state/dnsmasq.conf"; fi
  if [[ -n $haproxy ]]; then cp "$haproxy" "$state/haproxy.cfg"; else haproxy_cfg >"$state/haproxy.cfg"; fi
  registry_yml >"$state/registry.yml"
  service dns dnsmasq --keep-in-foreground --conf-file=/lab/dnsmasq.conf
  service lb haproxy -W -db -f /lab/haproxy.cfg
  service registry docker-registry serve /lab/registry.yml
}

read_arguments() {
  lab=${1:?which lab?} image='' domain='' gateway='' api_vip='' ingress_vip='' hosts='' dnsmasq='' haproxy=''
  check_name "$lab"
  shift
  while [[ $# -gt 0 ]]; do
    case $1 in
      --image) image=$2 ;;
      --domain) domain=$2 ;;
      --gateway) gateway=$2 ;;
      --api-vip) api_vip=$2 ;;
      --ingress-vip) ingress_vip=$2 ;;
      --hosts) export hosts=$2 ;;
      --dnsmasq) dnsmasq=$2 ;;
      --haproxy) haproxy=$2 ;;
      *) die "unknown option $1" ;;
    esac
    shift 2
  done
  local name
  for name in image domain gateway api_vip ingress_vip hosts; do
    [[ -n ${!name} ]] || die "--${name//_/-} is missing"
  done
  state=$LAB_STATE/$lab namespace=hardway-$lab
}

# The bridge is the segment; gateway and both virtual addresses are on it.
segment() {
  local address
  ip netns pids "$namespace" >/dev/null 2>&1 || ip netns add "$namespace"
  printf 'nameserver %s\nsearch %s\n' "${gateway%/*}" "$domain" >"$state/resolv.conf"
  ip -n "$namespace" link set lo up
  ip -n "$namespace" link show lab0 >/dev/null 2>&1 || ip -n "$namespace" link add lab0 type bridge
  ip -n "$namespace" link set lab0 up
  for address in "$gateway" "$api_vip/32" "$ingress_vip/32"; do
    ip -n "$namespace" address replace "$address" dev lab0
  done
}

# service NAME PROGRAM…: runs from the node image, started again if it ends, with the configuration at /lab. A new
# configuration is taken up by starting anew: these programs start in a fraction of a second.
service() {
  local name=hardway-$lab-$1 limits
  shift
  mapfile -t limits < <(podman_limits)
  podman rm --force --time=2 --ignore "$name" >/dev/null
  podman run --detach --name="$name" --label="hardway.lab=$lab" --network="ns:/run/netns/$namespace" "${limits[@]}" \
    --restart=always --stop-signal=SIGTERM --no-hosts --volume="$state:/lab:z" --volume="$LAB_CACHE/registry:/registry:z" \
    --entrypoint="$1" "$image" "${@:2}" >/dev/null
}

main "$@"
