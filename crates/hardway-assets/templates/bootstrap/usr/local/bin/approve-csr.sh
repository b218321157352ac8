#!/usr/bin/env bash
# Approves the certificate requests of the masters this cluster expects, and of nobody else, until bootstrapping is over:
#
#   client   signer kubernetes.io/kube-apiserver-client-kubelet, asked for by the node-bootstrapper identity, for the user
#            system:node:NAME with NAME in expected-nodes, once: not when the node exists already, and not for another key
#            than one approved before. Everybody who reaches :22623 is served the node-bootstrapper's kubeconfig.
#   serving  signer kubernetes.io/kubelet-serving, asked for by system:node:NAME itself, for names and addresses that
#            expected-nodes gives to NAME
#
# Why a request is left alone is said once. Workers come later and are approved from outside this host.
#
#   approve-csr.sh [--once] KUBECONFIG
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"

main() {
  local once=false silent=false
  if [[ ${1:-} == --once ]]; then
    once=true
    shift
  fi
  kubeconfigs=("${1:?which kubeconfig?}" "$OPENSHIFT_DIR/auth/kubeconfig")
  if [[ $once == true ]]; then
    approve_all
    return
  fi
  . "${BASH_SOURCE[0]%/*}/bootstrap-service-record.sh"
  say "approving requests of: $(cut -d' ' -f1 "$OPENSHIFT_DIR/expected-nodes" | paste -sd' ')"
  until [[ -e $OPENSHIFT_DIR/.bootkube.done ]]; do
    if approve_all; then
      silent=false
    elif [[ $silent == false ]]; then
      say "no API server could be asked for requests; trying again"
      silent=true
    fi
    sleep "$POLL_SECONDS"
  done
}

# This host's own API server first; once it is torn down, the masters' behind the internal name. Nodes are read after the
# requests: a node that joined in between is known.
approve_all() {
  local kubeconfig
  for kubeconfig in "${kubeconfigs[@]}"; do
    if requests=$(client get certificatesigningrequests -o json 2>/dev/null) \
      && nodes=$(client get nodes -o 'jsonpath={.items[*].metadata.name}' 2>/dev/null); then
      remember_approved
      approve_pending
      return
    fi
  done
  return 1
}

client() {
  "$OC" --kubeconfig="$kubeconfig" --request-timeout=10s "$@"
}

# The oldest first, so that of two askers for one name the second is the one held.
approve_pending() {
  local request name verdict
  while read -r request; do
    name=$(jq -r .metadata.name <<<"$request")
    verdict=$(judge "$request") || verdict="it could not be judged"
    if [[ $verdict == approve ]]; then
      verdict=$(judge_key "$request") || verdict="its key could not be judged"
    fi
    if [[ $verdict == approve ]]; then
      if approve "$request"; then
        say "approved $name"
        remember "$request"
      fi
    elif [[ ${said[$name]:-} != "$verdict" ]]; then
      said[$name]=$verdict
      say "left $name alone: $verdict"
    fi
  done < <(jq -c '.items | sort_by(.metadata.creationTimestamp)[]
    | select((.status.conditions // []) == [] and .status.certificate == null)' <<<"$requests")
}
declare -A said=()

# --- one client certificate a node -------------------------------------------------------------------------------------

# Which keys were approved for a node: "NODE KEY" → the request. Kept while this runs, because the cluster forgets a request
# an hour after it was approved.
declare -A approved_keys=() remembered=()

remember_approved() {
  local uid request
  while read -r uid request; do
    [[ -n ${remembered[$uid]:-} ]] || remember "$request"
    remembered[$uid]=yes
  done < <(jq -r '.items[] | select(.status.certificate != null or any(.status.conditions[]?; .type == "Approved"))
    | "\(.metadata.uid) \(tojson)"' <<<"$requests")
}

remember() {
  local holder
  if ! asks_to_serve "$1" && holder=$(holder_of "$1"); then
    approved_keys[$holder]=$(jq -r .metadata.name <<<"$1")
  fi
}

asks_to_serve() {
  [[ $(jq -r .spec.signerName <<<"$1") == kubernetes.io/kubelet-serving ]]
}

# Prints "NODE KEY" of a request for a node.
holder_of() {
  local pem subject key
  pem=$(jq -r '.spec.request | @base64d' <<<"$1") || return
  subject=$(openssl req -noout -subject -nameopt RFC2253 <<<"$pem") || return
  key=$(openssl req -noout -pubkey <<<"$pem" | sha256sum) || return
  [[ $subject =~ CN=system:node:([^,]+) ]] && printf '%s %s\n' "${BASH_REMATCH[1]}" "${key%% *}"
}

# Prints "approve" for a serving certificate, for a node's first client certificate, and for a key that was approved before.
# A kubelet that lost its key before its node was registered looks the same as a stranger who wants to pass for that node:
# only a person can tell them apart. Nor can it be told who was first; but then the true machine is held, and that is said.
judge_key() {
  local holder node other name
  if asks_to_serve "$1"; then
    printf 'approve\n'
    return
  fi
  name=$(jq -r .metadata.name <<<"$1") || return
  holder=$(holder_of "$1") || return
  node=${holder% *}
  if [[ " $nodes " == *" $node "* ]]; then
    printf 'node %s exists already and needs no second client certificate; %s\n' "$node" "$(by_hand "$name")"
    return
  fi
  for other in "${!approved_keys[@]}"; do
    if [[ ${other% *} == "$node" && -z ${approved_keys[$holder]:-} ]]; then
      printf 'a client certificate of %s was approved for another key (%s); %s\n' "$node" "${approved_keys[$other]}" "$(by_hand "$name")"
      return
    fi
  done
  printf 'approve\n'
}

by_hand() {
  printf 'if you know that this machine was started anew and lost its key: oc adm certificate approve %s' "$1"
}

# --- which requests are an expected node's ------------------------------------------------------------------------------

# Written back with the resource version it was read with: what is approved is exactly what was judged.
approve() {
  local request=$1 answer
  answer=$(jq '.status.conditions = [{type: "Approved", status: "True", reason: "ExpectedNode",
      message: "Asked for by a node this cluster expects; approved on the bootstrap host."}]' <<<"$request" \
    | client replace -f - \
      --raw "/apis/certificates.k8s.io/v1/certificatesigningrequests/$(jq -r '.metadata.name | @uri' <<<"$request")/approval" 2>&1) && return
  say "could not approve: ${answer##*$'\n'}"
  return 1
}

# Prints "approve", or the reason why not. openssl reads the request, jq decides.
judge() {
  local request=$1 pem subject names
  pem=$(jq -r '.spec.request | @base64d' <<<"$request")
  # openssl tells the outcome of -verify in words; not every version tells it in its exit code.
  if [[ $(openssl req -noout -verify <<<"$pem" 2>&1) != *'verify OK'* ]] \
    || ! subject=$(openssl req -noout -subject -nameopt RFC2253 <<<"$pem" 2>/dev/null); then
    printf 'its request is not a well-signed PKCS#10 request\n'
    return
  fi
  names=$(openssl req -noout -text <<<"$pem" | sed -n '/Subject Alternative Name/{n;s/^ *//;p}')
  jq -r --arg subject "${subject#subject=}" --arg names "$names" --rawfile expected "$OPENSHIFT_DIR/expected-nodes" "$policy" <<<"$request"
}

# shellcheck disable=SC2016 # jq's variables, not the shell's
policy='
  # 2001:DB8:0:0:0:0:0:1 and 2001:db8::1 are one address.
  def address:
    ascii_downcase
    | if contains("::") then
        (split("::") | map(split(":"))) as [$head, $tail]
        | $head + [range(8 - ($head + $tail | length)) | "0"] + $tail
      elif contains(":") then split(":")
      else [.] end
    | map(sub("^0+(?=.)"; "")) | join(":");
  def nodes: [$expected | split("\n")[] | split(" ") | map(select(. != "")) | select(length > 0)
    | {name: .[0], addresses: (.[1:] | map(address))}];
  def names: [$names | split("\n")[] | split(", ")[] | select(. != "")
    | . as $text | capture("^(?<kind>[^:]*):(?<value>.*)$") // {kind: "unknown", value: $text}];
  def group($name): .spec.groups // [] | any(.[]; . == $name);
  def usages($needed): .spec.usages - ["digital signature", "key encipherment"] == [$needed];
  def outside($node): [names[]
    | select((.kind == "DNS" and .value == $node.name)
             or (.kind == "IP Address" and ([.value | address] - $node.addresses == [])) | not)
    | "\(.kind) \(.value)"];

  ($subject | capture("^(CN=system:node:(?<a>[^,]+),O=system:nodes|O=system:nodes,CN=system:node:(?<b>[^,]+))$") // {}
   | .a // .b) as $asked
  | "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper" as $bootstrapper
  | (first(nodes[] | select(.name == $asked)) // null) as $node
  | if $asked == null then "its subject (\($subject)) is not that of a node"
    elif $node == null then "no node named \($asked) is expected"
    elif .spec.signerName == "kubernetes.io/kube-apiserver-client-kubelet" then
      if .spec.username != $bootstrapper then "a client certificate is asked for by \(.spec.username), not by the node-bootstrapper"
      elif group("system:serviceaccounts:openshift-machine-config-operator") | not then "the node-bootstrapper comes without its group"
      elif usages("client auth") | not then "usages \(.spec.usages | join(", ")) are not those of a client"
      elif names != [] then "a client certificate needs no names, but asks for \($names)"
      else "approve" end
    elif .spec.signerName == "kubernetes.io/kubelet-serving" then
      if .spec.username != "system:node:\($asked)" then "a serving certificate of \($asked) is asked for by \(.spec.username)"
      elif group("system:nodes") | not then "\($asked) comes without the group system:nodes"
      elif usages("server auth") | not then "usages \(.spec.usages | join(", ")) are not those of a server"
      elif names == [] then "a serving certificate without any name"
      elif outside($node) != [] then "\(outside($node) | join(", ")) does not belong to \($asked)"
      else "approve" end
    else "signer \(.spec.signerName) is none of a kubelet" end
'

main "$@"
