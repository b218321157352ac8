#!/usr/bin/env bash
# Writes the environment file through which kubelet.sh learns the payload's pause image.
set -Eeuo pipefail
PRE_COMMAND=kubelet-pause-image
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"

mkdir -p "$KUBERNETES_DIR"
printf 'MACHINE_CONFIG_INFRA_IMAGE=%s\n' "$IMAGE_POD" >"$KUBERNETES_DIR/kubelet-pause-image-override"
