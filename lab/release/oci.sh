#!/usr/bin/env bash
# Images without a container runtime: layers and manifests in an OCI image layout. The same content gives the same digests on
# every computer, because nothing in them depends on time or order. Sourced; $layout is the folder.
# shellcheck disable=SC2154

# blob MEDIA-TYPE: keeps standard input as a blob and prints its descriptor.
blob() {
  local temporary digest
  mkdir -p "$layout/blobs/sha256"
  temporary=$(mktemp "$layout/blobs/sha256/.new.XXXXXX")
  digest=$(tee "$temporary" | sha256sum | cut -d' ' -f1)
  chmod 0644 "$temporary"
  jq -cn --arg type "$1" --arg digest "sha256:$digest" --argjson size "$(stat -c %s "$temporary")" \
    '{mediaType: $type, $digest, $size}'
  mv "$temporary" "$layout/blobs/sha256/$digest"
}

# layer FOLDER: everything in it as one layer; prints the descriptor. Not compressed: the registry is on this computer, and
# six nodes unpack it.
layer() {
  tar -c -C "$1" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --format=gnu . | blob application/vnd.oci.image.layer.v1.tar
}

# image NAME CONFIG LAYER…: an image of the given layers; prints its digest. CONFIG is the runtime part: entry point, labels, ….
image() {
  local name=$1 config=$2 layers manifest
  shift 2
  layers=$(printf '%s\n' "$@" | jq -cs .)
  config=$(jq -cn --argjson config "$config" --argjson layers "$layers" --arg architecture "$architecture" '{
      $architecture, os: "linux", created: "1970-01-01T00:00:00Z", $config,
      rootfs: {type: "layers", diff_ids: ($layers | map(.digest))}}' | blob application/vnd.oci.image.config.v1+json)
  manifest=$(jq -cn --argjson config "$config" --argjson layers "$layers" '{
      schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", $config, $layers}' \
    | blob application/vnd.oci.image.manifest.v1+json)
  index_image "$name" "$manifest"
  jq -r .digest <<<"$manifest"
}

# index_image NAME MANIFEST: the layout's index names it.
index_image() {
  printf '{"imageLayoutVersion": "1.0.0"}' >"$layout/oci-layout"
  [[ -s $layout/index.json ]] || printf '{"schemaVersion": 2, "manifests": []}' >"$layout/index.json"
  jq -c --argjson manifest "$2" --arg name "$1" '
      .manifests |= map(select(.annotations["org.opencontainers.image.ref.name"] != $name))
        + [$manifest + {annotations: {"org.opencontainers.image.ref.name": $name}}]' "$layout/index.json" >"$layout/index.json.new"
  mv "$layout/index.json.new" "$layout/index.json"
}

# image_over BASE NAME CONFIG LAYER…: an image of the layout with more layers on top, whose entry point and environment stay where it has
# them; prints its digest.
image_over() {
  local base=$1 name=$2 patch=$3 layers manifest config old
  shift 3
  layers=$(printf '%s\n' "$@" | jq -cs .)
  old=$(manifest_of "$base")
  config=$(jq -c --argjson patch "$patch" --argjson layers "$layers" '
      .config = $patch + (.config // {}) + {Labels: ((.config.Labels // {}) + $patch.Labels)}
      | .rootfs.diff_ids += ($layers | map(.digest)) | del(.history)' \
    "$layout/blobs/sha256/$(jq -r '.config.digest | ltrimstr("sha256:")' "$old")" | blob application/vnd.oci.image.config.v1+json)
  manifest=$(jq -c --argjson config "$config" --argjson layers "$layers" '.config = $config | .layers += $layers' "$old" \
    | blob application/vnd.oci.image.manifest.v1+json)
  index_image "$name" "$manifest"
  jq -r .digest <<<"$manifest"
}
