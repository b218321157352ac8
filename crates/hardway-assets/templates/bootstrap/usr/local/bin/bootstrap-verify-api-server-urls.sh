#!/usr/bin/env bash
# Looks whether this host finds and reaches the cluster's two API names. Sourced after bootstrap-service-record.sh. The
# outcome is recorded for whoever reads the log bundle; bootstrapping goes on either way, since nothing here needs the
# names before the nodes do.

# verify_names: do both names resolve?
verify_names() {
  verify resolve-api-url name_resolves "$API_URL"
  verify resolve-api-int-url name_resolves "$API_INT_URL"
}

# verify_urls: does a ready API server answer under both names?
verify_urls() {
  verify check-api-url url_answers "$API_URL"
  verify check-api-int-url url_answers "$API_INT_URL"
}

# A success is not looked for again after a restart; a failure is.
verify() {
  local name=$1 reason
  shift
  if [[ -e $OPENSHIFT_DIR/$name.done ]]; then
    return 0
  fi
  stage_start "$name"
  if reason=$("$@" 2>&1); then
    touch "$OPENSHIFT_DIR/$name.done"
    stage_success
  else
    say "$name: $reason"
    stage_failure "$reason"
  fi
}

name_resolves() {
  local host=${1#https://}
  host=${host%:*}
  getent ahosts "$host" >/dev/null && return
  printf 'no address found for %s\n' "$host"
  return 1
}

# Any certificate will do: whether the answer can be trusted is the clients' business, whether there is one is ours.
url_answers() {
  local code
  code=$(curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{http_code}' "$1/readyz") || code=000
  [[ $code == 200 ]] && return
  printf '%s/readyz answered %s\n' "$1" "$code"
  return 1
}
