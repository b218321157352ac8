#!/usr/bin/env bash
# Runs `oc` with the given arguments, wherever it is to be had:
#   1. oc, or else kubectl, of the host;
#   2. oc copied once out of the payload's `cli` image, since newer RHCOS boots without openshift-clients;
#   3. that image itself, if the copied program does not run on this host.
# Only what oc and kubectl have in common may be asked for, and with absolute paths below /opt, /etc/kubernetes and /tmp.
set -euo pipefail

for tool in oc kubectl; do
  if command -v "$tool" >/dev/null; then
    exec "$tool" "$@"
  fi
done

OPENSHIFT_DIR=${OPENSHIFT_DIR:-/opt/openshift}
# shellcheck source=/dev/null
. "$OPENSHIFT_DIR/bootstrap.env"
copy=${OC_COPY:-/usr/local/bin/oc}
broken=$OPENSHIFT_DIR/.oc-copy-broken

# Copies to a private name first: several callers may come at once, and the last rename wins with the same bytes.
copy_from_image() {
  local container copied=yes
  container=$(podman create --quiet "$IMAGE_CLI" true)
  podman cp "$container:/usr/bin/oc" "$copy.$$" || copied=no
  podman rm --force "$container" >/dev/null
  [[ $copied == yes ]]
  chmod 0755 "$copy.$$"
  if "$copy.$$" version --client >/dev/null; then
    mv -f "$copy.$$" "$copy"
  else
    rm -f "$copy.$$"
    touch "$broken"
  fi
}

if [[ ! -e $broken ]]; then
  copy_from_image >&2
fi
if [[ -x $copy ]]; then
  exec "$copy" "$@"
fi
exec podman run --quiet --rm --interactive --net=host --user=0 --security-opt=label=disable \
  --volume=/opt:/opt --volume=/etc/kubernetes:/etc/kubernetes --volume=/tmp:/tmp \
  --entrypoint=/usr/bin/oc "$IMAGE_CLI" "$@"
