#!/usr/bin/env bash
# Looks up component images of the release. Sourced after bootstrap-common.sh.

# image_for NAME: prints the pull spec of a component. The shipped image-references answers without a container.
image_for() {
  local references=$OPENSHIFT_DIR/image-references image=''
  if [[ -s $references ]]; then
    image=$(jq -r --arg name "$1" '.spec.tags[] | select(.name == $name) | .from.name' "$references")
  else
    image=$(podman run --quiet --rm --net=none "$RELEASE_IMAGE" image "$1")
  fi
  if [[ -z $image ]]; then
    say "release $RELEASE_VERSION has no image named $1" >&2
    return 1
  fi
  printf '%s\n' "$image"
}

# image_references: makes sure that the release's list of images lies in the bootstrap folder.
image_references() {
  local references=$OPENSHIFT_DIR/image-references
  if [[ ! -s $references ]]; then
    podman run --quiet --rm --net=none --entrypoint=cat "$RELEASE_IMAGE" /release-manifests/image-references >"$references.new"
    mv -f "$references.new" "$references"
  fi
}
