# shellcheck shell=bash
# Makes a bridge with the bootstrap host's address and a namespace for each master behind it, then runs its arguments.
# Everything ends with the process namespace that this runs in.
set -euo pipefail
ip link set lo up
ip link add lab0 type bridge
ip addr add 192.168.126.100/24 dev lab0
ip link set lab0 up
pids=()
for i in 1 2 3; do
  unshare --net sleep infinity &
  pid=$!
  until [[ $(readlink "/proc/$pid/ns/net") != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.05; done
  ip link add "master$i" type veth peer name eth0 netns "$pid"
  ip link set "master$i" master lab0 up
  nsenter --target "$pid" --net bash -ec "ip link set lo up; ip addr add 192.168.126.10$i/24 dev eth0; ip link set eth0 up"
  pids+=("$pid")
done
export LABTEST_MASTERS="${pids[*]}"
exec "$0" "$@"
