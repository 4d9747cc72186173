#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# arm64.sh COMMAND...: runs a command where the preset arm64 can be built, and its programs run under qemu-user. As root
# of a Debian 13 that may change: it adds the architecture and the packages of packages/arm64.txt. While it runs, the
# kernel starts programs for arm64 by qemu-user (binfmt_misc), for all or, in a user namespace, for its processes alone.
# Ends with the command's status; 77, and the reason, where that is not allowed.
set -euo pipefail
lists=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../packages
skip() { echo "skipped: no tests for arm64: $*" >&2; exit 77; }

handlers=/proc/sys/fs/binfmt_misc
handler=$handlers/weft-aarch64
emulator=/usr/libexec/qemu-binfmt/aarch64-binfmt-P

install_packages() {
  command -v dpkg > /dev/null || skip "this is not Debian"
  ((EUID == 0)) || skip "packages are installed as root"
  local package missing=()
  dpkg --add-architecture arm64
  while read -r package _; do
    [[ -n $package && $package != '#'* ]] || continue
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] || missing+=("$package")
  done < "$lists/arm64.txt"
  ((${#missing[@]})) || return 0
  apt-get update -q || skip "no package lists, see above"
  DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${missing[@]}"
}

# Programs that tests start are started by the kernel.
register_emulator() {
  [[ -e $handlers/register ]] || mount -t binfmt_misc binfmt_misc "$handlers" 2> /dev/null ||
    skip "binfmt_misc cannot be mounted here"
  if grep -qs '^magic 7f454c460201010000000000000000000200b700' "$handlers"/*; then return; fi
  local magic='\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  echo ":${handler##*/}:M::$magic:$mask:$emulator:OP" 2> /dev/null > "$handlers/register" ||
    skip "the kernel takes no handler for programs of arm64"
  trap '[[ ! -e $handler ]] || echo -1 > "$handler"' EXIT
}

install_packages
register_emulator
"$@"
