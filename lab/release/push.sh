#!/usr/bin/env bash
# Puts images into the registry's storage, through a registry on loopback that runs only for that. Sourced by build.sh, whose
# variables it uses.
# shellcheck disable=SC2154

# push_all: every image to the repository of its name. What is in the storage is not sent again, but the tag of the release is
# this release's, whoever pushed last.
push_all() {
  local port repository pushed
  pushed=$LAB_CACHE/pushed-$(printf '%s\n' "${images[@]}" "$release" | LC_ALL=C sort | sha256sum | cut -c1-16)
  [[ ! -e $pushed || $(released "$tag") != "$release" ]] || return 0
  start_registry
  for repository in $(jq -r '.manifests[].annotations["org.opencontainers.image.ref.name"]' "$layout/index.json"); do
    skopeo copy --quiet --preserve-digests --dest-tls-verify=false "oci:$layout:$repository" \
      "docker://127.0.0.1:$port/hardway-lab/$repository:$tag"
  done
  touch "$pushed"
}

# start_registry: sets `port`.
start_registry() {
  local config=$work/registry.yml
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  cat >"$config" <<EOF
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $LAB_CACHE/registry}}
http: {addr: "127.0.0.1:$port"}
EOF
  OTEL_TRACES_EXPORTER=none docker-registry serve "$config" >"$work/registry.log" 2>&1 &
  echo $! >"$work/registry.pid"
  until curl --silent --fail --max-time 2 --output /dev/null "http://127.0.0.1:$port/v2/"; do
    kill -0 "$(<"$work/registry.pid")" 2>/dev/null || die "docker-registry exited: $(tail -n 3 "$work/registry.log")"
    sleep 0.1
  done
}

stop_registry() {
  if [[ -s ${work:-}/registry.pid ]]; then
    kill "$(<"$work/registry.pid")" 2>/dev/null || true
  fi
}
