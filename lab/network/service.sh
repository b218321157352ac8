#!/usr/bin/env bash
# Runs a service on a lab's segment, from the node image, started again if it ends. It sees the lab's files as /lab, and the
# storage of the registry as /registry.
#
#   lab/network/service.sh LAB NAME [--reload SIGNAL] [--podman OPTION]… --image IMAGE PROGRAM…
#
# Run again it takes up its new configuration: on the signal, without letting go of its connections, or by starting anew.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/../common.sh"

lab=${1:?which lab?} service=${2:?which service?}
check_name "$lab"
shift 2
reload='' options=()
if [[ ${1:-} == --reload ]]; then
  reload=$2 && shift 2
fi
while [[ ${1:-} == --podman ]]; do
  options+=("$2") && shift 2
done
[[ ${1:-} == --image ]] || die "--image is required"
image=$2 name=hardway-$lab-$service
shift 2
if [[ -n $reload && $(podman container inspect --format='{{.State.Status}}' "$name" 2>/dev/null) == running ]]; then
  podman kill --signal="$reload" "$name" >/dev/null
  exit 0
fi
mkdir -p "$LAB_CACHE/registry"
podman rm --force --time=2 --ignore "$name" >/dev/null
podman run --detach --name="$name" --label="hardway.lab=$lab" --network="ns:/run/netns/hardway-$lab" "${options[@]}" \
  --restart=always --stop-signal=SIGTERM --no-hosts --volume="$LAB_STATE/$lab:/lab:z" --volume="$LAB_CACHE/registry:/registry:z" \
  --entrypoint="$1" "$image" "${@:2}" >/dev/null
