#!/usr/bin/env bash
# Fetches the payload's OS image and checks it out beside the booted system, for node-image-overlay.sh. ostree does both: it
# downloads only layers the boot image lacks, and labels files for SELinux.
#
# Runs in a mount namespace of its own (the unit's MountFlags), so what it remounts stays its own business.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"
. "${BASH_SOURCE[0]%/*}/node-image-overlay.sh"

main() {
  local checkout
  checkout=$(node_image_checkout)
  if [[ -x $checkout/usr/bin/kubelet ]]; then
    say "the node image is here already"
    return
  fi
  if [[ -z $IMAGE_NODE_OS ]]; then
    say "this system has no kubelet, and release $RELEASE_VERSION no OS image that would bring one: boot from an image with a kubelet"
    return 1
  fi
  rm -rf "$checkout" "$checkout.new"
  stage_start pull-node-image
  prepare_repository
  say "pulling $IMAGE_NODE_OS; this takes minutes"
  wait_for 0 "the node image $IMAGE_NODE_OS" pull "$IMAGE_NODE_OS"
  stage_success
  stage_start check-out-node-image
  check_out "$checkout"
  stage_success
}

# A live system cannot write to its own repository; it gets one in memory that begins with what the boot image has.
prepare_repository() {
  if is_live; then
    repository=$LIVE_DIR/repo
    mkdir -p "$repository"
    ostree init --mode=bare --repo="$repository"
    if [[ -d $OSTREE_REPO/refs/heads/ostree/container ]]; then
      ostree pull-local --repo="$repository" "$OSTREE_REPO"
    fi
  else
    repository=$OSTREE_REPO
    mount -o remount,rw /sysroot
  fi
}

pull() {
  local answer
  answer=$(ostree container image pull --authfile=/root/.docker/config.json "$repository" "ostree-unverified-image:docker://$1" 2>&1) && return
  printf '%s\n' "${answer##*$'\n'}"
  return 1
}

# Files of /etc that this host has changed are not checked out: its own stay. Hard links need no room, but only work
# within one file system. The checkout gets its name when it is complete: half of one must not pass for it after a restart.
check_out() {
  local ref skipped links=(--require-hardlinks)
  mapfile -t refs < <(ostree refs --repo="$repository" --list | sed -n '/^ostree\/container\/image\/docker/p')
  if [[ ${#refs[@]} -ne 1 ]]; then
    say "one node image expected in $repository, found ${#refs[@]}: ${refs[*]}"
    return 1
  fi
  ref=${refs[0]}
  if is_live; then
    links=()
    # ostree compares with the deployment's /etc, but in a live system /etc is a mount of its own.
    mount -o bind,ro /etc /ostree/deploy/*/deploy/*/etc
  fi
  skipped=$(mktemp)
  ostree admin config-diff | sed -e 's,^[A-Z] *,/usr/etc/,' >"$skipped"
  ostree checkout --repo="$repository" "${links[@]}" --skip-list="$skipped" "$ref" "$1.new"
  mv "$1.new" "$1"
  rm -f "$skipped"
  if is_live; then
    rm -rf "$repository"
  fi
}

main
