#!/usr/bin/env bash
# Tells CRI-O to hold pods open with the payload's own pause image. Its built-in default is on a public registry, which a
# disconnected host cannot reach. The nodes of the cluster get the same two settings from their MachineConfig.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"

dropin=$HOST_ETC/crio/crio.conf.d/50-bootstrap-override.conf
mkdir -p "${dropin%/*}"
cat >"$dropin" <<EOF
[crio.runtime]
hooks_dir = ["/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d"]

[crio.image]
pause_image = "$IMAGE_POD"
pause_command = "/usr/bin/pod"
EOF
say "CRI-O holds pods open with $IMAGE_POD"
