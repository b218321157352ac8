#!/usr/bin/env bash
# Plugs a machine's network card into a lab's segment: a namespace for the machine with one card, eth0, that already has its
# address, as an initramfs would have set it up from the kernel's command line.
#
#   lab/network/plug.sh LAB HOST --ip IP/PREFIX --mac MAC --gateway IP
#
# Does nothing if the card is there.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/../common.sh"

lab=${1:?which lab?} host=${2:?which host?} ip='' mac='' gateway=''
check_name "$lab"
check_name "$host"
shift 2
while [[ $# -gt 0 ]]; do
  case $1 in
    --ip) ip=$2 ;;
    --mac) mac=$2 ;;
    --gateway) gateway=$2 ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
segment=hardway-$lab machine=hardway-$lab-$host
# The other end's name: unlike any other on the segment, and short.
port=p${mac//:/}

ip netns pids "$machine" >/dev/null 2>&1 || ip netns add "$machine"
ip -n "$machine" link set lo up
if ! ip -n "$machine" link show eth0 >/dev/null 2>&1; then
  ip -n "$segment" link add "$port" type veth peer name eth0 netns "$machine"
  ip -n "$segment" link set "$port" master lab0 up
  ip -n "$machine" link set eth0 address "$mac"
fi
ip -n "$machine" link set eth0 up
ip -n "$machine" address replace "$ip" dev eth0
ip -n "$machine" route replace default via "$gateway"
