#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# arm64.sh [TARGET..]: builds weft for arm64 by Debian's cross compiler, all of it or those targets, and runs the tests
# that were built under qemu-user. As root of a Debian 13 that may change: it adds the architecture and the packages of
# packages/arm64.txt. While it runs, the kernel starts programs for arm64 by qemu-user (binfmt_misc), for all or, in a
# user namespace, for its processes alone. Exits with 77, and the reason, where that is not allowed.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
say() { printf '== arm64: %s\n' "$*"; }
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
  done < packages/arm64.txt
  ((${#missing[@]})) || return 0
  say "installs ${missing[*]}"
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
say "cmake --preset arm64; $(aarch64-linux-gnu-g++ --version | head -n 1); $(qemu-aarch64 --version | head -n 1)"
cmake --preset arm64
cmake --build --preset arm64 --parallel "${WEFT_JOBS:-$(nproc)}" ${1+--target "$@"}

# Two ranks and more; then what was built. A program that was not built leaves a test of this name.
bin=$PWD/build/arm64/bin
if [[ -x $bin/weft-run && -x $bin/hello && -x $bin/pingpong ]]; then
  for sample in hello pingpong; do
    say "tests/samples/$sample.sh"
    mkdir -p "build/arm64/samples-$sample"
    (cd "build/arm64/samples-$sample" && PATH=$bin:$PATH timeout 300 bash -eu "$OLDPWD/tests/samples/$sample.sh")
  done
fi
say "ctest --preset arm64"
ctest --preset arm64 --parallel "${WEFT_JOBS:-$(nproc)}" --exclude-regex _NOT_BUILT
