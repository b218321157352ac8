#!/usr/bin/env bash
# Counts masters that run a revision of a static pod operator. Sourced after bootstrap-common.sh.

# ha_revisions KUBECONFIG RESOURCE…: succeeds when every resource's `cluster` object shows two masters with a revision
# rolled out. This host is no node and therefore is never counted. Two are enough: the third may follow without it.
ha_revisions() {
  local kubeconfig=$1 resource object masters few=''
  shift
  for resource in "$@"; do
    if ! object=$(ask "$OC" --kubeconfig="$kubeconfig" --request-timeout=10s get "$resource" cluster -o json); then
      few+="$resource: $object; "
      continue
    fi
    masters=$(jq -r '[.status.nodeStatuses[]? | select((.currentRevision // 0) > 0) | .nodeName] | join(" ")' <<<"$object")
    if [[ $(wc -w <<<"$masters") -lt 2 ]]; then
      few+="$resource: a revision on ${masters:-no master yet}, two needed; "
    fi
  done
  [[ -z $few ]] && return
  printf '%s\n' "${few%; }"
  return 1
}
