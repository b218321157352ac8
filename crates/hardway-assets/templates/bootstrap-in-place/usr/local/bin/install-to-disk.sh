#!/usr/bin/env bash
# Waits for the end of bootkube, writes the OS with master.ign to the installation disk, and reboots into it. From then on
# this host is the cluster's only node.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"

bootkube_done() {
  [[ -e $OPENSHIFT_DIR/.bootkube.done ]] && return
  printf 'bootkube.service is still at work\n'
  return 1
}

run_stage wait-for-bootkube wait_for 0 "the end of bootstrapping" bootkube_done
# --copy-network: what somebody set up by hand in the live system goes along, unless the Ignition config says otherwise.
# The field names a disk, and people put further options of coreos-installer before it: each word is one.
read -ra disk <<<"$INSTALL_DISK"
run_stage coreos-installer coreos-installer install --copy-network --ignition-file "$OPENSHIFT_DIR/master.ign" "${disk[@]}"
run_stage reboot shutdown -r +1 "The cluster's data are on $INSTALL_DISK; rebooting into it."
touch "$OPENSHIFT_DIR/.install-to-disk.done"
