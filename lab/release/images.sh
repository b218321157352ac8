#!/usr/bin/env bash
# The component images of the lab's release. Sourced by build.sh, whose variables it uses.
# shellcheck disable=SC2154

# programs: makes a folder with every program that components.txt names.
programs() {
  local tools kubernetes program
  bin=$work/bin
  mkdir "$bin"
  tools=$("$repo/tools/kubernetes/build.sh" etcd etcdctl kube-controller-manager kube-scheduler kube-proxy kubectl)
  kubernetes=$("$here/../kubernetes/build.sh")
  for program in "$tools"/{etcd,etcdctl,kube-controller-manager,kube-scheduler,kube-proxy,kubectl} "$kubernetes/kube-apiserver"; do
    ln "$program" "$bin/" 2>/dev/null || cp "$program" "$bin/"
  done
  go_build "$here/programs" ./hyperkube hyperkube
  go_build "$here/programs" ./pod pod
  go_build "$repo/crates/hardway-release/tests/mco-stand-in" . machine-config-operator
  ln "$bin/machine-config-operator" "$bin/machine-config-controller"
  cp "$here/../node/rootfs/usr/bin/oc" "$bin/oc"
  if [[ -d $operators ]]; then
    go_build "$operators" ./cmd/lab-operator lab-operator
  fi
}

# go_build FOLDER PACKAGE NAME: quick after the first time, Go keeps what it compiled.
go_build() {
  step "lab-$3" "building the lab's $3" go_program "$@"
}

go_program() {
  (cd "$1" && CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags '-s -w' -o "$bin/$3" "$2")
}

# Programs that are the lab's own; all others that components.txt names are what they are called. A name with an @ is the lab's, too.
own_programs=' hyperkube machine-config-controller machine-config-operator oc pod '

# component_images: fills the arrays `images`, tag of the payload → repository and digest, and `kinds`, tag → what is in it:
# stand-in, real, or empty.
component_images() {
  local tag names
  declare -gA images=() kinds=() real_programs=()
  shell=$(shell_layer)
  if [[ -e $bin/lab-operator ]]; then
    operator=$(operator_layer)
  fi
  while read -r tag names; do
    [[ -z $tag || $tag == \#* || -n ${sources[$tag]:-} ]] || component "$tag" "$names"
  done <"$here/components.txt"
  for tag in "${!sources[@]}"; do
    real_component "$tag"
  done
  stand_in_missing
}

# component TAG NAMES
component() {
  local tag=$1 folder=$work/layer-$1 layers=() name first=''
  # Nothing but its program: it has no use for a shell.
  [[ $tag == pod ]] || layers+=("$shell")
  if [[ $2 == *@* ]]; then
    [[ -n $operator || $2 != @* ]] || return 0
    layers+=(${operator:+"$operator"})
  fi
  mkdir -p "$folder/usr/bin"
  kinds[$tag]=real
  for name in $2; do
    first=${first:-${name#@}}
    [[ $name == @* ]] || ln "$bin/$name" "$folder/usr/bin/$name"
    if [[ $name == @* || $own_programs == *" $name "* ]]; then
      kinds[$tag]=stand-in
    else
      real_programs[$tag]+=${real_programs[$tag]:+ }$name
    fi
  done
  case $tag in
    kube-proxy) layers+=("$(iptables_layer)") ;;
    machine-config-operator)
      mkdir -p "$folder/etc/mcc/templates"
      cp "$repo"/crates/hardway-assets/sample-release/node/* "$folder/etc/mcc/templates/"
      ;;
  esac
  [[ $2 == @* ]] || layers+=("$(layer "$folder")")
  images[$tag]=$tag@$(image "$tag" "$(entry_point "/usr/bin/$first")" "${layers[@]}")
}

# entry_point PROGRAM: the runtime part of an image's configuration.
#
# A whole cluster shares the processors of one computer, and most of its work are starts of API servers, which make much garbage and
# keep little: they collect it more rarely, within a bound of memory.
entry_point() {
  local collect='[]'
  case ${1##*/} in
    hyperkube | etcd) collect='["GOGC=400", "GOMEMLIMIT=768MiB"]' ;;
  esac
  jq -cn --arg program "$1" --argjson collect "$collect" '{Entrypoint: [$program], Env: (["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + $collect)}'
}

# Whatever a manifest names can be pulled; run, it says why it is of no use.
stand_in_missing() {
  local folder=$work/layer-missing missing tag
  mkdir -p "$folder/usr/bin"
  printf '#!/bin/sh\necho "this component has no stand-in in the lab" >&2\nexit 1\n' >"$folder/usr/bin/not-in-the-lab"
  chmod 0755 "$folder/usr/bin/not-in-the-lab"
  missing=not-in-the-lab@$(image not-in-the-lab "$(entry_point /usr/bin/not-in-the-lab)" "$shell" "$(layer "$folder")")
  while read -r tag; do
    # shellcheck disable=SC2034 # build.sh reads it
    [[ -n ${images[$tag]:-} ]] || { images[$tag]=$missing && kinds[$tag]=empty; }
  done < <(cat "$repo/crates/hardway-assets/sample-release/image-names.txt" && payload_tags)
}

# What every image but `pod` begins with: a static busybox under all its names, because generated pods use /bin/sh, sleep and
# chmod of their images, and the C library of the nodes for programs that were linked with one.
shell_layer() {
  local folder=$work/layer-shell name
  mkdir -p "$folder"/{etc,root,tmp,usr/bin,usr/sbin,var/run}
  chmod 1777 "$folder/tmp"
  from_node "$folder" ./bin ./sbin ./lib './lib64' './usr/lib64/ld-linux*' './usr/lib/ld-linux*' './usr/lib/*-linux-gnu/ld-linux*' \
    './usr/lib/*-linux-gnu/libc.so.*' './usr/lib/*-linux-gnu/libresolv.so.*'
  cp "$(command -v busybox)" "$folder/usr/bin/busybox"
  for name in $(busybox --list); do
    [[ $name == busybox ]] || ln -s busybox "$folder/usr/bin/$name"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$folder/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$folder/etc/group"
  printf 'hosts: files dns\n' >"$folder/etc/nsswitch.conf"
  layer "$folder"
}

# One program under all its names, in one layer that the images of all operators share: a node fetches it once.
operator_layer() {
  local folder=$work/layer-operator name
  mkdir -p "$folder/usr/bin"
  ln "$bin/lab-operator" "$folder/usr/bin/lab-operator"
  for name in $(grep -v '^#' "$here/components.txt" | grep -o '@[^ ]*'); do
    [[ $name == @lab-operator ]] || ln -s lab-operator "$folder/usr/bin/${name#@}"
  done
  layer "$folder"
}

# tools_layer: what OpenShift's base image has and pods of its operators call: bash, which is their /bin/sh too (`time while` is no other
# shell's), nice and ionice, and ss and flock, which wait for a port or a predecessor. Made once.
tools_layer() {
  local folder=$work/layer-tools made=$work/layer-tools.json lib='./usr/lib/*-linux-gnu' name patterns=()
  if [[ ! -s $made ]]; then
    mkdir -p "$folder"
    for name in tinfo mnl elf bpf z cap bsd md selinux pcre2-8 tirpc gssapi_krb5 krb5 k5crypto com_err krb5support keyutils; do
      patterns+=("$lib/lib$name.so*" "$lib/lib$name-[0-9]*.so")
    done
    from_node "$folder" './usr/bin/bash' './usr/bin/ss' './usr/bin/flock' './usr/bin/timeout' './usr/bin/nice' './usr/bin/ionice' "${patterns[@]}"
    ln -s bash "$folder/usr/bin/sh"
    layer "$folder" >"$made"
  fi
  cat "$made"
}

# kube-proxy calls iptables and conntrack, with the libraries they load.
iptables_layer() {
  local folder=$work/layer-iptables lib='./usr/lib/*-linux-gnu'
  mkdir -p "$folder"
  from_node "$folder" './usr/sbin/*tables*' ./usr/sbin/conntrack './etc/alternatives/*tables*' "$lib/libxtables.so*" "$lib/libnftnl.so*" \
    "$lib/libmnl.so*" "$lib/libip?tc.so*" "$lib/libnetfilter_conntrack.so*" "$lib/libnfnetlink.so*" "$lib/libm.so*" "$lib/xtables/*"
  layer "$folder"
}

# from_node FOLDER PATTERN…: files of the nodes' root file system. Not every architecture has something for every pattern.
from_node() {
  local folder=$1 base name pattern
  shift
  base=$(node_base)
  tar -tf "$base" | while read -r name; do
    for pattern in "$@"; do
      # shellcheck disable=SC2053 # a pattern
      [[ $name != $pattern ]] || printf '%s\n' "$name"
    done
  done >"$work/names"
  tar -x -C "$folder" --no-recursion --files-from="$work/names" -f "$base"
}
