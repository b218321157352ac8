#!/usr/bin/env bash
# Puts the checked out node image over the booted system: its /usr over ours, its /etc files next to ours. Afterwards the host
# has the kubelet, CRI-O and oc of the payload, still with the kernel it booted.
set -Eeuo pipefail

OSTREE_REPO=${OSTREE_REPO:-/ostree/repo}
LIVE_DIR=${LIVE_DIR:-/var/ostreecontainer}
LIVE_MARKER=${LIVE_MARKER:-/run/ostree-live}

is_live() {
  [[ -e $LIVE_MARKER ]]
}

node_image_checkout() {
  if is_live; then
    printf '%s\n' "$LIVE_DIR/checkout"
  else
    printf '%s\n' "$OSTREE_REPO/tmp/node-image"
  fi
}

# The running kernel needs its own modules. crypto-policies may be a mount of its own on a FIPS host and is left alone.
overlay() {
  local checkout
  checkout=$(node_image_checkout)
  mount -o bind,ro /usr/lib/modules "$checkout/usr/lib/modules"
  mount -o rbind,ro "$checkout/usr" /usr
  rsync -a --exclude=crypto-policies "$checkout/usr/etc/" /etc
  semodule -R
}

# Sourced, it only tells node-image-pull.sh where things go.
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  . "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
  . "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"
  overlay
fi
