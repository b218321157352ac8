#!/usr/bin/env bash
# Brings up the temporary control plane of this host, creates the cluster's first objects through it, waits until the
# masters run a control plane of their own, and takes the temporary one down again.
#
# Every stage leaves STAGE.done in /opt/openshift, so after a failure or a reboot the service goes on where it was.
# All manifests came with the Ignition config. Node configs alone are rendered here, for machines that boot from a stock pointer.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"
. "${BASH_SOURCE[0]%/*}/release-image.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-verify-api-server-urls.sh"
. "${BASH_SOURCE[0]%/*}/wait-for-ha-api.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-cluster-gather.sh"

ETCD_HEALTH_URLS=${ETCD_HEALTH_URLS:-https://localhost:2379/health https://localhost:9978/health https://localhost:2381/health}
LOAD_BALANCER_SECONDS=${LOAD_BALANCER_SECONDS:-30}
loopback=$OPENSHIFT_DIR/auth/kubeconfig-loopback
internal=$OPENSHIFT_DIR/auth/kubeconfig
static_pods=(kube-apiserver-pod kube-controller-manager-pod kube-scheduler-pod cluster-version-operator-pod)

main() {
  run_stage openshift-manifests check_inputs
  run_stage etcd-bootstrap put_file "$OPENSHIFT_DIR/etcd-member-pod.yaml" "$KUBERNETES_DIR/manifests/etcd-member-pod.yaml"
  if [[ $SERVE_MACHINE_CONFIGS == true ]]; then
    run_stage machine-config-render serve_machine_configs
  fi
  verify_names
  run_stage wait-for-etcd wait_for 600 "etcd" etcd_healthy
  run_stage secrets place_secrets
  run_stage control-plane-pods place_control_plane_pods
  run_stage wait-for-api wait_for 1200 "the API server of this host" api_ready "$loopback"
  run_stage create-crds create 600 "$OPENSHIFT_DIR/crds"
  run_stage create-manifests create_manifests
  if [[ $IN_PLACE == true ]]; then
    run_stage bootstrap-success report_success
    run_stage teardown teardown
    . "$BIN_DIR/bootstrap-in-place.sh"
  else
    hand_over
  fi
  touch "$OPENSHIFT_DIR/.bootkube.done"
  say "bootkube.service complete"
}

# From the first pods of the masters to a cluster that no longer needs this host's control plane.
hand_over() {
  run_stage required-pods wait_for 1200 "the control plane on a master" required_pods
  if [[ $HIGHLY_AVAILABLE == true ]]; then
    run_stage wait-for-ha wait_for 1800 "two masters" ha_revisions "$loopback" \
      {kubeapiservers,kubeschedulers,kubecontrollermanagers}.operator.openshift.io
  fi
  run_stage bootstrap-success report_success
  run_stage teardown teardown
  run_stage cvo-overrides wait_for 0 "the ClusterVersion to take its overrides back" restore_overrides
  run_stage stop-machine-config-server rm -f "$KUBERNETES_DIR/manifests/machineconfigoperator-bootstrap-pod.yaml"
  run_stage wait-for-ceo wait_for 0 "etcd to run in the cluster" etcd_in_cluster
  verify_urls
}

# A file the Ignition config left out is better said now than by a pod that does not start.
check_inputs() {
  local file missing=''
  for file in bootstrap.env etcd-member-pod.yaml original_cvo_overrides.patch openshift/99_feature-gate.yaml \
    manifests/cvo-overrides.yaml auth/{kubeconfig,kubeconfig-kubelet,kubeconfig-loopback} "${static_pods[@]/#/bootstrap-manifests/}"; do
    [[ $file != bootstrap-manifests/* ]] || file+=.yaml
    [[ -s $OPENSHIFT_DIR/$file ]] || missing+=" $file"
  done
  if [[ $IN_PLACE == true && ! -s $OPENSHIFT_DIR/node.ign ]]; then
    missing+=" node.ign"
  fi
  if [[ -n $missing ]]; then
    say "missing in $OPENSHIFT_DIR:$missing"
    return 1
  fi
}

# --- machine configs: the only stage that runs payload containers ------------------------------------------------------

# The operator's command writes ControllerConfig, pools and a static pod; that pod's init container renders the pools and
# its container serves them to masters on :22623. Both commands look the feature gates up by --payload-version.
serve_machine_configs() {
  local rendered=$OPENSHIFT_DIR/mco-bootstrap pod=machineconfigoperator-bootstrap-pod.yaml
  image_references
  rm -rf "$rendered"
  podman run --quiet --rm --net=host --user=0 --volume="$OPENSHIFT_DIR:/assets:z" "$IMAGE_MACHINE_CONFIG_OPERATOR" \
    bootstrap \
    --dest-dir=/assets/mco-bootstrap \
    --root-ca=/assets/tls/root-ca.crt \
    --kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt \
    --config-file=/assets/manifests/cluster-config.yaml \
    --pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml \
    --release-image="$RELEASE_IMAGE" \
    --image-references=/assets/image-references \
    --payload-version="$RELEASE_VERSION"
  if ! grep -qF -- "--payload-version=$RELEASE_VERSION" "$rendered/bootstrap/$pod"; then
    say "the rendered pod does not name payload version $RELEASE_VERSION; its controller would find no feature gates"
    return 1
  fi
  fill_controller_inputs "$rendered/bootstrap/manifests"
  put_file "$OPENSHIFT_DIR/auth/kubeconfig-kubelet" "$HOST_ETC/mcs/kubeconfig"
  put_file "$OPENSHIFT_DIR/tls/machine-config-server.crt" "$HOST_ETC/ssl/mcs/tls.crt"
  put_file "$OPENSHIFT_DIR/tls/machine-config-server.key" "$HOST_ETC/ssl/mcs/tls.key"
  mkdir -p "$HOST_ETC/mcs/bootstrap"
  put_file "$rendered/bootstrap/$pod" "$KUBERNETES_DIR/manifests/$pod"
}

# The controller dies of any file here that is not YAML or JSON, so only such files go in.
fill_controller_inputs() {
  local inputs=$HOST_ETC/mcc/bootstrap
  rm -rf "$inputs"
  mkdir -p "$inputs"
  cp "$1"/* "$inputs/"
  local folders=("$OPENSHIFT_DIR"/{openshift,manifests})
  if [[ -d $OPENSHIFT_DIR/image-policies ]]; then
    folders+=("$OPENSHIFT_DIR/image-policies")
  fi
  find "${folders[@]}" -maxdepth 1 -type f \
    \( -name '*.yaml' -o -name '*.yml' -o -name '*.json' \) -exec cp --target-directory="$inputs" {} +
  cp "$OPENSHIFT_DIR/image-references" "$inputs/"
}

# --- the temporary control plane ---------------------------------------------------------------------------------------

# Newer etcd serves /health on a listener of its own; whichever of them answers will do.
etcd_healthy() {
  local url answer='' tls=$OPENSHIFT_DIR/tls
  for url in $ETCD_HEALTH_URLS; do
    answer=$(curl --silent --show-error --noproxy '*' --max-time 5 --cacert "$tls/etcd-ca-bundle.crt" \
      --cert "$tls/etcd-client.crt" --key "$tls/etcd-client.key" "$url" 2>&1) || continue
    if [[ $(jq -r '.health' <<<"$answer" 2>/dev/null) == true ]]; then
      return 0
    fi
  done
  printf '%s\n' "$answer"
  return 1
}

# The static pods read certificates from bootstrap-secrets; the version operator's pod reads /etc/kubernetes/kubeconfig.
place_secrets() {
  local secrets=$KUBERNETES_DIR/bootstrap-secrets
  rm -rf "$secrets"
  install -d -m 0700 "$secrets"
  cp "$OPENSHIFT_DIR"/tls/* "$secrets/"
  put_file "$loopback" "$secrets/kubeconfig"
  put_file "$loopback" "$KUBERNETES_DIR/kubeconfig"
}

# A pod left over from an earlier try is simply replaced.
place_control_plane_pods() {
  local pod
  for pod in "${static_pods[@]}"; do
    put_file "$OPENSHIFT_DIR/bootstrap-manifests/$pod.yaml" "$KUBERNETES_DIR/manifests/$pod.yaml"
  done
}

# etcd stays: it holds the cluster's data until the masters' members have them too, and the etcd operator removes it.
# The pause lets load balancers notice that the masters' API servers are up before this one goes.
teardown() {
  local pod
  if [[ $HIGHLY_AVAILABLE == true ]]; then
    say "giving load balancers $LOAD_BALANCER_SECONDS s to find the masters"
    sleep "$LOAD_BALANCER_SECONDS"
  fi
  for pod in "${static_pods[@]}"; do
    rm -f "$KUBERNETES_DIR/manifests/$pod.yaml"
  done
  rm -rf "$KUBERNETES_DIR/bootstrap-secrets"
}

# --- the cluster's first objects ---------------------------------------------------------------------------------------

# create SECONDS FILE|FOLDER…
create() {
  local code=0
  timeout "$1" "$BIN_DIR/create-manifests.sh" --kubeconfig "$loopback" --state-dir "$OPENSHIFT_DIR/create-manifests" "${@:2}" || code=$?
  if [[ $code -eq 124 ]]; then
    say "gave up after $1 s: some objects could still not be created, for the reasons above"
  fi
  return "$code"
}

# The version operator starts to work when it sees the ClusterVersion, and stops itself if feature gates appear after that.
create_manifests() {
  local folders=("$OPENSHIFT_DIR"/{manifests,openshift,operator-seeds}) folder
  for folder in image-policies mco-bootstrap/manifests; do
    if [[ -d $OPENSHIFT_DIR/$folder ]]; then
      folders+=("$OPENSHIFT_DIR/$folder")
    fi
  done
  create 600 "$OPENSHIFT_DIR/openshift/99_feature-gate.yaml"
  create 3600 "${folders[@]}"
}

# --- waiting for the masters -------------------------------------------------------------------------------------------

# This host's own pods never show up in the API, so whatever is found runs on a master.
required_pods() {
  local required namespace prefix pods missing=''
  for required in openshift-kube-apiserver/kube-apiserver openshift-kube-scheduler/openshift-kube-scheduler \
    openshift-kube-controller-manager/kube-controller-manager openshift-cluster-version/cluster-version-operator; do
    namespace=${required%/*} prefix=${required#*/}
    if ! pods=$(ask "$OC" --kubeconfig="$loopback" --request-timeout=10s --namespace="$namespace" get pods -o json); then
      missing+=" $required ($pods)"
    elif ! jq -e --arg prefix "$prefix-" 'any(.items[]; (.metadata.name | startswith($prefix)) and .status.phase == "Running"
        and any(.status.conditions[]?; .type == "Ready" and .status == "True"))' <<<"$pods" >/dev/null; then
      missing+=" $required"
    fi
  done
  [[ -z $missing ]] && return
  printf 'not ready yet:%s\n' "$missing"
  return 1
}

# Two events that other tools look for, in the order they always had.
report_success() {
  event bootstrap-success "The control plane's pods run on the masters."
  event bootstrap-finished "All first objects of the cluster exist; the bootstrap control plane ends."
}

event() {
  local now answer
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  if ! answer=$(jq -n --arg name "$1" --arg message "$2" --arg now "$now" --arg host "$(uname -n)" '{
      apiVersion: "v1", kind: "Event", metadata: {name: $name, namespace: "kube-system"},
      involvedObject: {namespace: "kube-system"}, type: "Normal", message: $message, count: 1,
      firstTimestamp: $now, lastTimestamp: $now, source: {component: "cluster-bootstrap", host: $host}}' \
    | "$OC" --kubeconfig="$loopback" --request-timeout=30s create -f - 2>&1) && [[ $answer != *AlreadyExists* ]]; then
    say "event $1: $answer"
    return 1
  fi
}

# While bootstrapping, the version operator was told to leave our manifests alone; from now on it may have them.
restore_overrides() {
  local answer
  answer=$("$OC" --kubeconfig="$internal" --request-timeout=30s patch clusterversions.config.openshift.io version --type=merge \
    --patch-file="$OPENSHIFT_DIR/original_cvo_overrides.patch" 2>&1) && return
  printf '%s\n' "${answer##*$'\n'}"
  return 1
}

etcd_in_cluster() {
  local object condition
  if ! object=$(ask "$OC" --kubeconfig="$internal" --request-timeout=10s get etcds.operator.openshift.io cluster -o json); then
    printf '%s\n' "$object"
    return 1
  fi
  condition=$(jq -r 'first(.status.conditions[]? | select(.type == "EtcdRunningInCluster")) // {} | "\(.status // "unknown") \(.message // "")"' <<<"$object")
  [[ $condition == True* ]] && return
  printf 'EtcdRunningInCluster is %s\n' "$condition"
  return 1
}

# While an API server is there to be asked, what it knows is kept for the log bundle.
service_failed() {
  if [[ -e $OPENSHIFT_DIR/wait-for-api.done ]]; then
    gather_cluster
  fi
}

main
