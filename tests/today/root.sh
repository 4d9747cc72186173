#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# root.sh RELEASE: prints the folder of a Debian of that release (trixie, sid), with what `./dev setup` installs. It is
# made if there is none, if it lacks a package of the lists, or if it is old; the folder is of all clones.
# Exits with 77, and the reason, where none can be had.
set -euo pipefail
export LC_ALL=C  # the lists are sorted
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tree=$(dirname "$(dirname "$here")")
source "$here/namespace.sh"
own_mounts "$here/root.sh" "$@"

release=$1
roots=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/weft/roots
root=$roots/$release part=$roots/$release.part
days=30
[[ $release != sid ]] || days=7

# A machine of that release needs no folder of it: the stage dev is the same.
case $release:$(cat /etc/debian_version 2> /dev/null) in
  trixie:13* | sid:*/sid) skip "this machine is Debian $release itself" ;;
esac

wanted() { sed 's/[[:space:]]*#.*//; /^$/d' "$tree"/packages/{build,test}.txt | sort -u; }
complete() { [[ -e $root/weft-packages && -z $(comm -23 <(wanted) "$root/weft-packages") ]]; }
young() { [[ -n $(find "$root/weft-packages" -mtime "-$days") ]]; }

# The mirror that this machine uses, if it is a Debian; else mmdebstrap takes its own.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 'Component: main' 2> /dev/null |
    grep -m 1 '^http' || true
}

# make: a Debian in $part, with what run.sh needs. What tests do not need is left out; a folder that can be made again
# need not be synchronised.
make() {
  local from settings=$roots/$release.apt
  from=$(mirror)
  { echo 'Acquire::Languages "none";'
    apt-config dump 2> /dev/null | grep -E '^Acquire::(http|https|Check|Retries)' || true; } > "$settings"
  rm -rf --one-file-system "$part"
  echo "Debian $release${from:+ from $from} in $root:" >&2
  mmdebstrap --quiet --mode=root --variant=apt --include=ca-certificates,mount --aptopt="$settings" \
    --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' "$release" "$part" ${from:+"$from"} > "$roots/$release.log" 2>&1 || return
  printf '#!/bin/sh\nexit 101\n' > "$part/usr/sbin/policy-rc.d"  # packages start no services
  chmod +x "$part/usr/sbin/policy-rc.d"
}

mkdir -p "$roots"
exec 9> "$roots/$release.lock"
if ! { complete && young; } && ! flock --nonblock 9; then
  # Others use it, and an old one is good enough then; or they make it.
  if complete; then echo "$root"; exit 0; fi
  flock 9
fi
if complete && young; then echo "$root"; exit 0; fi
command -v mmdebstrap > /dev/null || skip "mmdebstrap is missing (packages/today.txt)"
if ! make; then
  rm -rf --one-file-system "$part"
  if complete; then echo "Debian $release is old and cannot be made again" >&2; echo "$root"; exit 0; fi
  cat "$roots/$release.log" >&2
  skip "mmdebstrap fails, see above"
fi
# Unlike a missing mirror, packages that cannot be installed are a fault. run.sh gets mounts of its own: it changes the
# root of all processes that share them.
if ! (cd "$tree" && WEFT_OWN_MOUNTS='' "$here/run.sh" "$part" env WEFT_SETUP=yes ./dev setup >&2); then
  rm -rf --one-file-system "$part"
  echo "./dev setup does not work on Debian $release" >&2
  exit 1
fi
rm -f "$part"/var/cache/apt/archives/*.deb
wanted > "$part/weft-packages"
rm -rf --one-file-system "$root"
mv -T "$part" "$root"
echo "$root"
