#!/usr/bin/env bash
# Copies what the API server knows into a folder. Sourced; works without bootstrap-common.sh, since it also runs on nodes.

GATHERED_CLUSTER=${GATHERED_CLUSTER:-/tmp/artifacts-api-server-temp}

# gather_cluster: fills $GATHERED_CLUSTER/resources, but only if an API server answered: an earlier, fuller copy is worth
# more than a later, empty one.
gather_cluster() {
  local kubeconfig fresh file arguments
  kubeconfig=$(gather_kubeconfig) || return
  fresh=$(mktemp -d)
  mkdir "$fresh/resources"
  if ! gather_get version.json --raw=/version; then
    printf 'no API server answers to %s\n' "$kubeconfig"
    rm -rf "$fresh"
    return 0
  fi
  while read -r file arguments; do
    # shellcheck disable=SC2086 # the table's words are separate arguments
    gather_get "$file" $arguments &
  done <<<"$resources_to_gather"
  wait
  gather_machine_configs
  gather_secret_names
  rm -rf "$GATHERED_CLUSTER"
  mkdir -p "$GATHERED_CLUSTER"
  mv "$fresh/resources" "$GATHERED_CLUSTER/"
  rm -rf "$fresh"
}

# While the bootstrap control plane runs, the loopback kubeconfig lies among its secrets; after that the internal one works.
gather_kubeconfig() {
  local candidate
  for candidate in "${KUBERNETES_DIR:-/etc/kubernetes}/bootstrap-secrets/kubeconfig" "${OPENSHIFT_DIR:-/opt/openshift}/auth/kubeconfig"; do
    if [[ -f $candidate ]]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  printf 'no kubeconfig to gather with\n' >&2
  return 1
}

# gather_get FILE ARGUMENT…: one answer, or next to it the reason why there is none.
gather_get() {
  local target=$fresh/resources/$1
  shift
  if "${OC:-/usr/local/bin/oc-or-container.sh}" --kubeconfig="$kubeconfig" --request-timeout=5s get "$@" >"$target" 2>"$target.error"; then
    rm -f "$target.error"
    return 0
  fi
  [[ -s $target ]] || rm -f "$target"
  return 1
}

# Files of machine configs hold the pull secret and keys of all kinds: their contents stay behind.
gather_machine_configs() {
  local kept=$fresh/resources/machineconfigs.json
  gather_get machineconfigs.full machineconfigs -o json || return 0
  jq '(.items[]?.spec.config.storage?.files[]?.contents?.source? | strings) |= "(\(length) characters left out)"' "$fresh/resources/machineconfigs.full" >"$kept" \
    || rm -f "$kept"
  rm -f "$fresh/resources/machineconfigs.full"
}

# Of secrets only names and annotations; tokens and registry secrets are many and say nothing.
gather_secret_names() {
  local columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,TYPE:.type,ANNOTATIONS:.metadata.annotations
  gather_get secrets-names-with-annotations.full secrets --all-namespaces -o "custom-columns=$columns" || return 0
  grep -v -e '-token-' -e '-dockercfg-' "$fresh/resources/secrets-names-with-annotations.full" >"$fresh/resources/secrets-names-with-annotations.txt"
  rm -f "$fresh/resources/secrets-names-with-annotations.full"
}

# File in resources/, then the arguments of `oc get`.
resources_to_gather='nodes.list nodes --no-headers -o custom-columns=:.metadata.name
masters.list nodes -l node-role.kubernetes.io/master --no-headers -o custom-columns=:.metadata.name
apiservices.json apiservices -o json
clusteroperators.json clusteroperators -o json
clusterversion.json clusterversion -o json
configmaps.json configmaps --all-namespaces -o json
csr.json certificatesigningrequests -o json
endpoints.json endpoints --all-namespaces -o json
etcds.json etcds.operator.openshift.io -o json
events.json events --all-namespaces -o json
infrastructures.json infrastructures -o json
kubeapiserver.json kubeapiservers.operator.openshift.io -o json
kubecontrollermanager.json kubecontrollermanagers.operator.openshift.io -o json
kubescheduler.json kubeschedulers.operator.openshift.io -o json
leases.json leases --all-namespaces -o json
machineconfigpools.json machineconfigpools -o json
machines.json machines.machine.openshift.io --all-namespaces -o json
namespaces.json namespaces -o json
network.json networks.config.openshift.io -o json
nodes.json nodes -o json
openshiftapiserver.json openshiftapiservers.operator.openshift.io -o json
pods.json pods --all-namespaces -o json
rolebindings.json rolebindings --all-namespaces -o json
roles.json roles --all-namespaces -o json
secrets-names.txt secrets --all-namespaces
services.json services --all-namespaces -o json
openapi.json --raw=/openapi/v2'
