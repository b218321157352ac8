#!/usr/bin/env bash
# Runs the kubelet without any kubeconfig: it starts the static pods of this host, registers no node and makes no mirror
# pods. Not exec'ed, so that its end is recorded. KUBELET_EXTRA_ARGS (from /etc/kubernetes/kubelet-env) goes last and
# therefore wins over the flags here.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"

KUBELET=${KUBELET:-/usr/bin/kubelet}
KUBELET_RUNTIME_REQUEST_TIMEOUT=${KUBELET_RUNTIME_REQUEST_TIMEOUT:-10m}
MACHINE_CONFIG_INFRA_IMAGE=${MACHINE_CONFIG_INFRA_IMAGE:-$IMAGE_POD}
KUBELET_EXTRA_ARGS=${KUBELET_EXTRA_ARGS:-}

flags=(
  --anonymous-auth=false
  --cgroup-driver=systemd
  --cluster-domain=cluster.local
  --container-runtime-endpoint=unix:///var/run/crio/crio.sock
  --minimum-container-ttl-duration=6m0s
  --pod-manifest-path="$KUBERNETES_DIR/manifests"
  --runtime-request-timeout="$KUBELET_RUNTIME_REQUEST_TIMEOUT"
  --serialize-image-pulls=false
  --volume-plugin-dir="$KUBERNETES_DIR/kubelet-plugins/volume/exec"
  --v=2
)
# The address that pods of this host see as theirs, and that the API server advertises.
if [[ -n $NODE_IP ]]; then
  flags+=(--node-ip="$NODE_IP")
elif [[ $IPV6_PRIMARY == true ]]; then
  flags+=(--node-ip=::)
fi
# Kubelets after 1.34 no longer know this flag; the runtime's pause_image is enough for them.
if [[ $("$KUBELET" --help) == *--pod-infra-container-image* ]]; then
  flags+=(--pod-infra-container-image="$MACHINE_CONFIG_INFRA_IMAGE")
fi
read -r -a extra <<<"$KUBELET_EXTRA_ARGS"

"$KUBELET" "${flags[@]}" "${extra[@]}"
