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

# A static busybox under all its names: generated pods use /bin/sh, sleep and chmod of their images.
shell_layer() {
  local folder=$work/layer-shell name
  mkdir -p "$folder"/{etc,root,tmp,usr/bin,var/run}
  chmod 1777 "$folder/tmp"
  cp "$(command -v busybox)" "$folder/usr/bin/busybox"
  ln -s usr/bin "$folder/bin"
  for name in $(busybox --list); do
    [[ $name == busybox ]] || ln -s busybox "$folder/usr/bin/$name"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$folder/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$folder/etc/group"
  layer "$folder"
}

# kube-proxy calls iptables and conntrack, with the libraries they load; all taken from the nodes' root file system.
iptables_layer() {
  local folder=$work/layer-iptables
  mkdir -p "$folder"
  tar -x -C "$folder" --wildcards -f "$(node_base)" './usr/sbin/*tables*' './usr/sbin/conntrack' './etc/alternatives/*tables*' \
    './usr/lib/*-linux-gnu/libxtables.so*' './usr/lib/*-linux-gnu/libnftnl.so*' './usr/lib/*-linux-gnu/libmnl.so*' \
    './usr/lib/*-linux-gnu/libip?tc.so*' './usr/lib/*-linux-gnu/libnetfilter_conntrack.so*' './usr/lib/*-linux-gnu/libnfnetlink.so*' \
    './usr/lib/*-linux-gnu/libnftables.so*' './usr/lib/*-linux-gnu/libc.so*' './usr/lib/*-linux-gnu/libm.so*' \
    './usr/lib/*-linux-gnu/ld-linux*' './usr/lib/*-linux-gnu/xtables/*' './lib' './lib64' './sbin'
  # Loaders are named by absolute path: /lib64/ld-linux… on one architecture, /lib/ld-linux… on another.
  tar -x -C "$folder" --wildcards -f "$(node_base)" './usr/lib64/*' './usr/lib/ld-linux*' 2>/dev/null || true
  layer "$folder"
}
