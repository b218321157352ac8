#!/usr/bin/env bash
# What every script of the bootstrap host shares: where things lie, the values of this cluster, and a few small helpers.
# Sourced. Every path can be set from outside, so that the scripts also run in a test folder.

OPENSHIFT_DIR=${OPENSHIFT_DIR:-/opt/openshift}
HOST_ETC=${HOST_ETC:-/etc}
KUBERNETES_DIR=${KUBERNETES_DIR:-$HOST_ETC/kubernetes}
BIN_DIR=${BIN_DIR:-$(cd "${BASH_SOURCE[0]%/*}" && pwd)}
OC=${OC:-$BIN_DIR/oc-or-container.sh}
POLL_SECONDS=${POLL_SECONDS:-5}
export OPENSHIFT_DIR HOST_ETC KUBERNETES_DIR BIN_DIR OC POLL_SECONDS

# The values of this cluster: KEY='value' lines, every key explained in the README next to the templates.
# shellcheck source=/dev/null
. "$OPENSHIFT_DIR/bootstrap.env"

# say TEXT…: one line for the journal.
say() {
  printf '%s\n' "$*"
}

# put_file SOURCE TARGET: copies so that a reader sees the old file or the new one, never half of one, not even after a
# power cut. The kubelet skips
# names that begin with a dot, so this is safe inside its manifest folder too; copying (not moving) takes the SELinux
# label of the target folder.
put_file() {
  local source=$1 target=$2
  mkdir -p "${target%/*}"
  cp "$source" "${target%/*}/.${target##*/}.new"
  sync --data "${target%/*}/.${target##*/}.new"
  mv -f "${target%/*}/.${target##*/}.new" "$target"
}

# wait_for SECONDS WHAT COMMAND…: repeats COMMAND until it succeeds; fails after SECONDS (0: never gives up). What COMMAND
# prints is taken as the reason it is not there yet and is said whenever it changes; so is what it prints in the end.
wait_for() {
  local limit=$1 what=$2 began=$SECONDS reason said=''
  shift 2
  until reason=$("$@" 2>&1); do
    if [[ $reason != "$said" ]]; then
      say "waiting for $what: $reason"
      said=$reason
    fi
    if ((limit > 0 && SECONDS - began >= limit)); then
      say "gave up waiting for $what after $limit s; last seen: $reason"
      return 1
    fi
    sleep "$POLL_SECONDS"
  done
  [[ -z $reason || $reason == "$said" ]] || say "$reason"
  say "$what: ready after $((SECONDS - began)) s"
}

# ask COMMAND…: prints what COMMAND answers or, if it fails, the last line of its complaint. The two never mix: a client
# may warn and yet answer well.
ask() {
  local complaint
  { complaint=$("$@" 2>&1 >&3 3>&-) && return; } 3>&1
  printf '%s\n' "${complaint##*$'\n'}"
  return 1
}

# api_ready KUBECONFIG: succeeds when the API server behind that kubeconfig says so itself.
api_ready() {
  local answer
  answer=$("$OC" --kubeconfig="$1" --request-timeout=5s get --raw=/readyz 2>&1) && return
  printf '%s\n' "${answer##*$'\n'}"
  return 1
}
