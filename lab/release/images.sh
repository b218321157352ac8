#!/usr/bin/env bash
# The component images of the lab's release. Sourced by build.sh.

# programs: a folder with every program that components.txt names.
programs() {
  local tools program repo=$here/../.. mco=$here/../../crates/hardway-release/tests/mco-stand-in
  bin=$work/bin
  mkdir "$bin"
  tools=$("$repo/tools/kubernetes/build.sh" etcd etcdctl kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubectl)
  for program in etcd etcdctl kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubectl; do
    ln "$tools/$program" "$bin/$program" 2>/dev/null || cp "$tools/$program" "$bin/"
  done
  for program in hyperkube pod cluster-policy-controller insecure-readyz; do
    go_build "$here/programs" "./$program" "$program"
  done
  mv "$bin/insecure-readyz" "$bin/cluster-kube-apiserver-operator"
  go_build "$mco" . machine-config-operator
  cp "$bin/machine-config-operator" "$bin/machine-config-controller"
  cp "$here/../node/rootfs/usr/bin/oc" "$bin/oc"
  if [[ -d $here/../operators ]]; then
    go_build "$here/../operators" . lab-operator
  fi
}

# go_build FOLDER PACKAGE NAME: quick after the first time, Go keeps what it compiled.
go_build() {
  (cd "$1" && CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags '-s -w' -o "$bin/$3" "$2")
}

# component_images: fills the array `images`: tag of the payload → repository and digest. Tags of the payload that have no line in components.txt get an image that
# says so when it is run: whatever a manifest names can be pulled.
component_images() {
  local shell tag names
  declare -gA images=()
  shell=$(shell_layer)
  while read -r tag names; do
    [[ -z $tag || $tag == \#* ]] || component "$tag" "$shell" "$names"
  done <"$here/components.txt"
  stand_in_missing "$shell"
}

# component TAG SHELL NAMES
component() {
  local tag=$1 shell=$2 folder=$work/layer-$1 layers=() name first=''
  mkdir -p "$folder/usr/bin"
  for name in $3; do
    [[ -e $bin/$name ]] || continue
    first=${first:-$name}
    ln "$bin/$name" "$folder/usr/bin/$name"
  done
  # Nothing but its program: it has no use for a shell.
  [[ $tag == pod ]] || layers+=("$shell")
  case $tag in
    kube-proxy) layers+=("$(iptables_layer)") ;;
    machine-config-operator)
      mkdir -p "$folder/etc/mcc/templates"
      cp "$here"/../../crates/hardway-assets/sample-release/node/* "$folder/etc/mcc/templates/"
      ;;
  esac
  layers+=("$(layer "$folder")")
  images[$tag]=$tag@$(image "$tag" "$(jq -cn --arg program "/usr/bin/$first" '{Entrypoint: [$program], Env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}')" "${layers[@]}")
}

stand_in_missing() {
  local shell=$1 folder=$work/layer-missing missing tag
  mkdir -p "$folder/usr/bin"
  printf '#!/bin/sh\necho "this component has no stand-in in the lab" >&2\nexit 1\n' >"$folder/usr/bin/not-in-the-lab"
  chmod 0755 "$folder/usr/bin/not-in-the-lab"
  missing=not-in-the-lab@$(image not-in-the-lab '{"Entrypoint": ["/usr/bin/not-in-the-lab"]}' "$shell" "$(layer "$folder")")
  while read -r tag; do
    [[ -n ${images[$tag]:-} ]] || images[$tag]=$missing
  done <"$here/../../crates/hardway-assets/sample-release/image-names.txt"
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
