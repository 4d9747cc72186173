#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh RELEASE|FOLDER COMMAND...: runs a command in the Debian of that release, which root.sh makes, or of that folder,
# as its root. The working folder, this tree, /tmp and the compiler cache are the same there.
# Ends with the command's status; 77: none can be had.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tree=$(dirname "$(dirname "$here")")
source "$here/namespace.sh"
own_mounts "$here/run.sh" "$@"

root=$1
shift
if [[ $root != */* ]]; then
  root=$("$here/root.sh" "$root")
  exec 9>> "$root.lock"
  flock --shared 9  # as long as a process of the command lives
fi

cache=${CCACHE_DIR:-$(ccache --get-config cache_dir 2> /dev/null || echo "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ccache")}
mkdir -p "$cache"
mount --bind "$root" "$root"  # what pivot_root changes to is a mount
for folder in dev proc sys; do mount --rbind "/$folder" "$root/$folder"; done
mount -t tmpfs tmpfs "$root/run"
mkdir "$root/run/lock"
for folder in /tmp "$tree" "$cache"; do
  mkdir -p "$root$folder"
  mount --rbind "$folder" "$root$folder"
done
for file in hosts resolv.conf; do
  if [[ -e /etc/$file ]]; then cat "/etc/$file" > "$root/etc/$file"; fi
done

mapfile -t kept < <(env | grep -E '^(TERM|WEFT_[A-Z_]+|CCACHE_[A-Z]+|CTEST_[A-Z_]+|[a-z]+_proxy)=' | grep -v ^WEFT_OWN)
# Not chroot, in which the kernel allows no user namespaces, which some tests make.
folder=$PWD
cd "$root"
mkdir -p .before
pivot_root . .before
cd /
umount --lazy /.before
exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  "${kept[@]}" CCACHE_DIR="$cache" bash -c 'cd "$0" && exec "$@"' "$folder" "$@"
