#!/usr/bin/env bash
# A client that reads and writes through the API's virtual address, again and again, and writes down how each went. Runs in the
# lab's network (hardway lab run).
#
#   lab/client.sh KUBECONFIG LOG
#
# A line each: the time in seconds, `ok` or `failed`, and why. A try may take ten seconds, slow is not
# wrong; each has a connection of its own.
set -euo pipefail
kubeconfig=${1:?which kubeconfig?} log=${2:?which log?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
field() { sed -n "s/^ *$1: //p" "$kubeconfig" | head -n 1; }
field certificate-authority-data | base64 -d >"$work/ca"
field client-certificate-data | base64 -d >"$work/cert"
field client-key-data | base64 -d >"$work/key"
server=$(field server)
object=$server/api/v1/namespaces/default/configmaps/hardway-client

ask() {
  curl --silent --show-error --fail --connect-timeout 2 --max-time 10 --output /dev/null --cacert "$work/ca" --cert "$work/cert" --key "$work/key" "$@" 2>&1
}

count=0
ask --request POST --header 'Content-Type: application/json' --data '{"metadata": {"name": "hardway-client"}}' "${object%/*}" || true
while :; do
  count=$((count + 1))
  if why=$(ask --request PATCH --header 'Content-Type: application/merge-patch+json' --data "{\"data\": {\"count\": \"$count\"}}" "$object" && ask "$object"); then
    printf '%s ok\n' "$EPOCHREALTIME" >>"$log"
  else
    printf '%s failed %s\n' "$EPOCHREALTIME" "$why" >>"$log"
  fi
  sleep 0.1
done
