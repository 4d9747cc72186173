#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh FOLDER: makes FOLDER/vmlinux and FOLDER/initramfs, of Debian's kernel and busybox, if they are not there.
# Exits with 77, and the reason, where they cannot be had.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
mkdir -p "$1"
cd "$1"

skip() { echo "no RDMA guest: $*" >&2; exit 77; }

# The modules that the guest loads, with their dependencies.
modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay dummy crc32_generic crc32_pclmul rdma_rxe)

# unpack_packages: into unpacked/, without installing anything.
unpack_packages() {
  local image package
  command -v apt-get > /dev/null || skip "this is not Debian, whose kernel it would boot"
  image=$(apt-cache depends linux-image-amd64 2> /dev/null | sed -n 's/^ *Depends: *//p' | head -n 1)
  [[ -n $image ]] || skip "apt knows no linux-image-amd64 (apt-get update)"
  rm -rf packages unpacked
  mkdir packages unpacked
  (cd packages && apt-get -qq -o APT::Sandbox::User=root download "$image" busybox-static) > fetch.log 2>&1 ||
    skip "$image and busybox-static cannot be downloaded: $(tail -n 1 fetch.log)"
  for package in packages/*.deb; do dpkg-deb --extract "$package" unpacked; done
  rm -r packages
  local folder
  for folder in bin lib; do  # Debian 13's packages have them below usr only
    [[ -e unpacked/$folder ]] || ln -s "usr/$folder" "unpacked/$folder"
  done
}

# take_kernel IMAGE: QEMU starts the bare kernel by its PVH entry, which saves seconds of unpacking in an emulated
# machine. The bare kernel is inside the image, compressed by xz; of another image QEMU starts the whole.
take_kernel() {
  local at
  at=$(LC_ALL=C grep --text --byte-offset --only-matching --max-count=1 --perl-regexp '\xfd7zXZ\x00' "$1" |
    head -n 1 | cut -d : -f 1) || true
  if [[ -z $at ]]; then cp "$1" vmlinux.part; return; fi
  tail --bytes=+$((at + 1)) "$1" | xz --decompress --single-stream --stdout > vmlinux.part 2> fetch.log || true
  [[ -s vmlinux.part ]] || skip "the kernel in $1 cannot be unpacked: $(tail -n 1 fetch.log)"
}

# wanted_modules FOLDER: the files of `modules` and of all that they depend on, from the folder's modules.dep.
wanted_modules() {
  printf '%s\n' "${modules[@]}" | awk -v list="$1/modules.dep" '
    function name_of(path) { sub(/.*\//, "", path); sub(/\.ko.*/, "", path); gsub(/-/, "_", path); return path }
    BEGIN {
      while ((getline line < list) > 0) {
        split(line, half, ":")
        file[name_of(half[1])] = half[1]
        needs[name_of(half[1])] = half[2]
      }
    }
    { if (file[$1] != "") print file[$1] needs[$1] }' | tr ' ' '\n' | sort -u
}

pack_initramfs() {
  local version tree=$PWD/tree module
  version=$(ls unpacked/lib/modules)
  unpacked/bin/busybox depmod -b unpacked "$version"
  rm -rf "$tree"
  mkdir -p "$tree/bin" "$tree/sbin"
  cp unpacked/bin/busybox "$tree/bin/"
  ln -s busybox "$tree/bin/sh"
  ln -s ../bin/busybox "$tree/sbin/modprobe"  # the kernel calls it when it needs a checksum
  wanted_modules "unpacked/lib/modules/$version" | while read -r module; do
    install -D -m 644 "unpacked/lib/modules/$version/$module" "$tree/lib/modules/$version/$module"
  done
  find "$tree" -name '*.ko.xz' -exec xz --decompress {} +
  unpacked/bin/busybox depmod -b "$tree" "$version"
  install -m 755 "$here/init.sh" "$tree/init"
  (cd "$tree" && find . | "$OLDPWD/unpacked/bin/busybox" cpio -o -H newc 2> /dev/null) > initramfs.part
  rm -r "$tree"
}

exec {lock}> lock
flock "$lock"
if [[ ! -e vmlinux ]]; then
  unpack_packages
  take_kernel unpacked/boot/vmlinuz-*
  mv vmlinux.part vmlinux
fi
if [[ ! -e initramfs || $here/init.sh -nt initramfs || $here/fetch.sh -nt initramfs ]]; then
  pack_initramfs
  mv initramfs.part initramfs
fi
