#!/usr/bin/env bash
# OKD only: the host booted from plain CentOS Stream CoreOS and has to become the payload's own `stream-coreos` image,
# which brings kubelet and CRI-O. No unit runs this for OpenShift, whose boot image has them already.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"
. "${BASH_SOURCE[0]%/*}/release-image.sh"

done_marker=$OPENSHIFT_DIR/.pivot-done
if [[ -e $done_marker ]]; then
  exit 0
fi
# A live system has no deployment that could be exchanged.
if [[ -e /run/ostree-live ]]; then
  say "live system: nothing to rebase"
  touch "$done_marker"
  exit 0
fi

image=$(image_for stream-coreos)

pull_os_image() {
  podman pull --quiet "$image"
}

stage_start pull-okd-os-image
wait_for 0 "the OS image $image" pull_os_image
stage_success
stage_start rebase-to-okd-os-image
rpm-ostree rebase --experimental "ostree-unverified-registry:$image"
touch "$done_marker"
stage_success
systemctl reboot
