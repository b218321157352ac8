#!/usr/bin/env bash
# A live ISO that boots and installs: laid out like RHCOS's, with the same areas for a config and for kernel arguments, and in
# place of RHCOS a kernel of Debian's, busybox and the real Ignition. What it puts on the disk is the same system once more.
#
#   build.sh ISO KERNEL_FOLDER IGNITION
set -euo pipefail
iso=$1 kernel=$2 ignition=$3
here=$(dirname "${BASH_SOURCE[0]}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc,modules,live,installed,none}
cp /bin/busybox "$root/bin/busybox"
cp "$ignition" "$root/bin/ignition"
ldd "$ignition" | grep -oE '/[^ ]+' | while read -r library; do install -D "$library" "$root$library"; done
cp "$kernel"/modules/*.ko "$root/modules/"
install -m 0755 "$here/init" "$root/init"
install -m 0755 "$here/udhcpc" "$root/udhcpc"
echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"

# A folder with a kernel and what is in root by now.
system() {
  mkdir -p "$1"/{isolinux,images/pxeboot}
  cp "$kernel/vmlinuz" "$1/images/pxeboot/vmlinuz"
  (cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$1/images/pxeboot/initrd.img"
  cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$1/isolinux/"
}

boot=(-iso-level 1 -rational-rock -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table)
begin=$'serial 0\nprompt 0\ndefault linux\nlabel linux\n  kernel /images/pxeboot/vmlinuz\n  append initrd=/images/pxeboot/initrd.img'

# The disk of the installed system: an image that firmware also boots from a disk.
disk=$work/disk
system "$disk"
printf '%s console=ttyS0 ignition.firstboot ostree=/ostree/boot.1/test/0\n' "$begin" >"$disk/isolinux/isolinux.cfg"
xorriso -as mkisofs -quiet -V disk "${boot[@]}" -isohybrid-mbr /usr/lib/ISOLINUX/isohdpfx.bin -o "$root/disk.img" "$disk" 2>/dev/null

image=$work/image
system "$image"
mkdir -p "$image/coreos"
truncate -s 262144 "$image/images/ignition.img"
size=1139
arguments="coreos.liveiso=test ignition.firstboot ignition.platform.id=metal"
head="$begin,/images/ignition.img "
area=$arguments$'\n'
area+=$(printf '#%.0s' $(seq $((size - ${#area}))))
printf '%s%s\n' "$head" "$area" >"$image/isolinux/isolinux.cfg"
echo '{"file": "images/ignition.img"}' >"$image/coreos/igninfo.json"
echo '{"installer-config": true, "installer-config-directives": {"append-karg": true, "copy-network": true, "dest-device": true, "ignition-file": true}, "live-initrd-network": true}' >"$image/coreos/features.json"
printf '{"default": "%s", "files": [{"path": "isolinux/isolinux.cfg", "offset": %s}], "size": %s}\n' \
  "$arguments" "${#head}" "$size" >"$image/coreos/kargs.json"

# The second boot entry is a filler, as there is no EFI here; with it xorriso writes names as genisoimage does.
truncate -s 8192 "$image/images/efiboot.img"
xorriso -as mkisofs -quiet -V rhcos-test "${boot[@]}" -eltorito-alt-boot -e images/efiboot.img -no-emul-boot \
  -o "$iso" "$image" 2>/dev/null
