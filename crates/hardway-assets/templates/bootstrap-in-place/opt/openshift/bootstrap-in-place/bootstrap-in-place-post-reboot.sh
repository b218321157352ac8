#!/usr/bin/env bash
# First boot from disk after a bootstrap in place: the bootstrap control plane runs again, now with this host as a node.
# Hands it over to the operators' control plane and removes every trace of bootstrapping.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"

EARLIER_BUNDLE=${EARLIER_BUNDLE:-/var/log/log-bundle-bootstrap.tar.gz}
kubeconfig=$KUBERNETES_DIR/bootstrap-secrets/kubeconfig

main() {
  run_stage wait-for-api wait_for 0 "the API server" api_ready "$kubeconfig"
  run_stage report-bootstrap-complete wait_for 0 "the report of completion" report
  run_stage release-cvo-lease wait_for 0 "the version operator's lease" release openshift-cluster-version version
  run_stage release-cpc-lease wait_for 0 "the policy controller's lease" release kube-system cluster-policy-controller-lock
  run_stage cvo-overrides wait_for 0 "the ClusterVersion to take its overrides back" restore_overrides
  # The kubelet asks for two certificates, and may ask again after a restart. They are approved from outside this host.
  run_stage node-ready wait_for 0 "the node" node_ready
  run_stage kube-apiserver-operator wait_for 0 "the API server's operator" operator_ready
  # The unit got drop-ins after it was started, so systemd has to read it again first.
  run_stage restart-kubelet restart_kubelet
  run_stage own-kube-apiserver wait_for 0 "the operator's API server" own_api_server
  run_stage restart-kubelet-again systemctl restart kubelet
  run_stage wait-for-cvo wait_for 0 "the cluster version" version_available
  clean
}

client() {
  "$OC" --kubeconfig="$kubeconfig" --request-timeout=10s "$@"
}

# try COMMAND…: succeeds with it; otherwise leaves its last line as the reason.
try() {
  local answer
  answer=$("$@" 2>&1) && return
  printf '%s\n' "${answer##*$'\n'}"
  return 1
}

report() {
  [[ $(client --namespace=kube-system get configmap bootstrap -o 'jsonpath={.data.status}' 2>/dev/null) == complete ]] && return
  try client --namespace=kube-system create configmap bootstrap --from-literal=status=complete
}

# The holder of these leases died with the reboot; waiting for them to run out would take minutes.
release() {
  try client --namespace="$1" delete --ignore-not-found lease "$2" && try client --namespace="$1" delete --ignore-not-found configmap "$2"
}

restore_overrides() {
  try client patch clusterversions.config.openshift.io version --type=merge --patch-file="$OPENSHIFT_DIR/original_cvo_overrides.patch"
}

# In place there is one node.
node_ready() {
  local nodes
  nodes=$(ask client get nodes -o json) || nodes='{}'
  jq -e '.items // [] | length > 0 and all(.[]; any(.status.conditions[]?; .type == "Ready" and .status == "True"))' <<<"$nodes" >/dev/null && return
  if jq -e '.items // [] | length > 0' <<<"$nodes" >/dev/null; then
    printf 'node %s is not Ready\n' "$(jq -r '.items[0].metadata.name' <<<"$nodes")"
  else
    printf 'no node: its certificate requests are approved by hardway wait-for, or by hardway approve, on your computer\n'
  fi
  return 1
}

operator_ready() {
  local pods
  pods=$(ask client --namespace=openshift-kube-apiserver-operator get pods --selector=app=kube-apiserver-operator -o json) \
    && jq -e 'any(.items[]; any(.status.conditions[]?; .type == "Ready" and .status == "True"))' <<<"$pods" >/dev/null && return
  printf 'no Ready pod in openshift-kube-apiserver-operator\n'
  return 1
}

restart_kubelet() {
  systemctl daemon-reload
  systemctl restart kubelet
}

own_api_server() {
  local pod=$KUBERNETES_DIR/manifests/kube-apiserver-pod.yaml
  [[ -s $pod ]] && ! grep -q bootstrap-kube-apiserver "$pod" && return
  printf 'the bootstrap static pod is still in place, or none\n'
  return 1
}

version_available() {
  local object
  object=$(client get clusterversions.config.openshift.io version -o json 2>/dev/null) || object='{}'
  jq -e 'any(.status.conditions[]?; .type == "Available" and .status == "True")' <<<"$object" >/dev/null && return
  jq -r 'first(.status.conditions[]? | select(.type == "Progressing")) | .message // "no progress told yet"' <<<"$object"
  return 1
}

# The condition of bootkube.service is a file removed here, so it never runs again even if it could not be disabled.
clean() {
  systemctl disable bootkube.service
  rm -rf "$KUBERNETES_DIR"/bootstrap-* "$EARLIER_BUNDLE" "$OPENSHIFT_DIR"
  (cd "$BIN_DIR" && rm -f bootstrap-cluster-gather.sh bootstrap-common.sh bootstrap-in-place-post-reboot.sh \
    bootstrap-service-record.sh installer-gather.sh installer-masters-gather.sh oc-or-container.sh)
  say "this host is the cluster's node now; nothing of the bootstrap is left but its records"
}

main
