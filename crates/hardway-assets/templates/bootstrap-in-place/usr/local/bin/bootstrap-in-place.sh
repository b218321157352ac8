#!/usr/bin/env bash
# The last stages of bootkube.sh when this host is to become the cluster's only node: freeze etcd, pack the logs, and make
# the Ignition config that the installed system starts from. Sourced by bootkube.sh; install-to-disk.sh follows.

finish_in_place() {
  run_stage stop-etcd stop_etcd
  run_stage log-bundle env TAR_FILE="$OPENSHIFT_DIR/log-bundle-bootstrap.tar.gz" "$BIN_DIR/installer-gather.sh" --id bootstrap
  run_stage master-ignition "$BIN_DIR/make-master-ignition.sh"
}

# Its data folder is copied next, and only a stopped etcd leaves one that can be copied.
stop_etcd() {
  rm -f "$KUBERNETES_DIR/manifests/etcd-member-pod.yaml"
  wait_for 300 "etcd to stop" etcd_stopped
}

etcd_stopped() {
  local running
  running=$(crictl ps --state running --name '^etcd$' --quiet) || return
  [[ -z $running ]] && return
  printf 'container %s still runs\n' "$running"
  return 1
}

finish_in_place
