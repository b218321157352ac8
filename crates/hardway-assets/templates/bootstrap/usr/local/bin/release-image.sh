#!/usr/bin/env bash
# Knows where the release's list of images is. Sourced after bootstrap-common.sh.

# image_references: makes sure that the release's list of images lies in the bootstrap folder.
image_references() {
  local references=$OPENSHIFT_DIR/image-references
  if [[ ! -s $references ]]; then
    podman run --quiet --rm --net=none --entrypoint=cat "$RELEASE_IMAGE" /release-manifests/image-references >"$references.new"
    mv -f "$references.new" "$references"
  fi
}
