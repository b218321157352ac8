#!/usr/bin/env bash
# Pulls the release image, again and again until it is here: a oneshot unit that others require cannot be restarted by
# systemd, so the patience has to be in here. While it fails, the console's login prompt says so.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"

main() {
  local reason
  until reason=$(pull_once); do
    say "cannot pull $RELEASE_IMAGE: $reason"
    console_says "Unable to pull the release image: $reason"
    sleep "$POLL_SECONDS"
  done
  console_is_quiet
  check_architecture
}

# One try is one stage, so that the record shows how often it failed and why.
pull_once() {
  local reason
  stage_start pull-release-image >&2
  if image_is_here || reason=$(pull 2>&1); then
    stage_success >&2
    return
  fi
  stage_failure "$reason" >&2
  printf '%s\n' "${reason##*$'\n'}"
  return 1
}

# CRI-O and podman share one image store on RHCOS; a host without podman pulls through the runtime.
pull() {
  if command -v podman >/dev/null; then
    podman pull --quiet "$RELEASE_IMAGE"
  else
    crictl pull "$RELEASE_IMAGE"
  fi
}

image_is_here() {
  if command -v podman >/dev/null; then
    podman image exists "$RELEASE_IMAGE"
  else
    [[ -n $(crictl images --quiet "$RELEASE_IMAGE") ]]
  fi
}

# A release of another architecture would only show as "exec format error" in every container.
check_architecture() {
  local image host
  command -v podman >/dev/null || return 0
  stage_start image-metadata-arches-match
  image=$(podman image inspect --format '{{.Architecture}}' "$RELEASE_IMAGE")
  host=$(uname -m)
  case $host in
    x86_64) host=amd64 ;;
    aarch64) host=arm64 ;;
  esac
  if [[ $image != "$host" ]]; then
    stage_failure "release image is for $image, this host is $host"
    console_says "The release image is for $image, this host is $host"
    say "release image $RELEASE_IMAGE is for $image, this host is $host"
    return 1
  fi
  stage_success
}

issue=$HOST_ETC/issue.d/50_release-image.issue

console_says() {
  mkdir -p "${issue%/*}"
  printf '\n%s\n' "${1##*$'\n'}" >"$issue"
  refresh_console
}

console_is_quiet() {
  if [[ -e $issue ]]; then
    rm -f "$issue"
    refresh_console
  fi
}

refresh_console() {
  if command -v agetty >/dev/null && ! agetty --reload; then
    say "the console could not be refreshed"
  fi
}

main
