#!/usr/bin/env bash
# Tells the cluster that bootstrapping is over: ConfigMap kube-system/bootstrap with status=complete. Whoever waits for
# the installation watches it, and only when it is there does the etcd operator remove this host's etcd member.
#
#   report-progress.sh KUBECONFIG     (not the loopback one: this host's own API server is gone by then)
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"
. "${BASH_SOURCE[0]%/*}/wait-for-ha-api.sh"

kubeconfig=${1:?which kubeconfig?}

main() {
  # In place, there is no API between the end of bootstrapping and the reboot; the script after the reboot reports.
  if [[ $IN_PLACE == true ]]; then
    say "bootstrapping in place: reported after the reboot"
    return
  fi
  stage_start wait-for-bootstrap-complete
  wait_for 0 "the end of bootstrapping" bootkube_done
  stage_success
  if [[ $HIGHLY_AVAILABLE == true ]]; then
    stage_start wait-for-ha-api
    wait_for 0 "two API servers on masters" ha_revisions "$kubeconfig" kubeapiservers.operator.openshift.io
    stage_success
  fi
  stage_start report-bootstrap-complete
  wait_for 0 "the report of completion" report
  stage_success
}

bootkube_done() {
  [[ -e $OPENSHIFT_DIR/.bootkube.done ]] && return
  printf 'bootkube.service is still at work\n'
  return 1
}

# Created, never changed: what a previous try wrote counts.
report() {
  local status answer
  if status=$(client get configmap bootstrap -o 'jsonpath={.data.status}' 2>/dev/null); then
    [[ $status == complete ]] && return
    printf 'ConfigMap kube-system/bootstrap already says status=%s\n' "$status"
    return 1
  fi
  answer=$(client create configmap bootstrap --from-literal=status=complete 2>&1) && return
  printf '%s\n' "${answer##*$'\n'}"
  return 1
}

client() {
  "$OC" --kubeconfig="$kubeconfig" --request-timeout=10s --namespace=kube-system "$@"
}

main
