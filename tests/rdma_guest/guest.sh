#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# guest.sh [--seconds N] [--keep FOLDER] COMMAND...: runs a command where there is an RDMA device: on this machine if it
# has one, else in a virtual machine with all files of this one. What the command writes there is gone afterwards, except
# below FOLDER. Ends with the command's status; 124: it took too long; 125: the guest broke down; 77: none can be had.
#
#   WEFT_GUEST_CACHE  where kernel and busybox are unpacked (default: build/guest)
#   WEFT_GUEST_ACCEL  QEMU's accelerator (default: tcg,thread=multi; kvm where that works)
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cache=${WEFT_GUEST_CACHE:-$here/../../build/guest}
seconds=300 kept=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --keep) kept=$(readlink -e "$2") ;;
    *) echo "guest.sh does not know $1" >&2; exit 2 ;;
  esac
  shift 2
done
(($#)) || { sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2; }

if compgen -G '/dev/infiniband/uverbs*' > /dev/null; then exec timeout "$seconds" "$@"; fi

[[ $(uname -m) == x86_64 ]] ||
  { echo "no RDMA device, and the guest runs programs of x86-64 only, which this $(uname -m) has not" >&2; exit 77; }
command -v qemu-system-x86_64 > /dev/null ||
  { echo "no RDMA device, and no qemu-system-x86_64 for a guest with one (packages/guest.txt)" >&2; exit 77; }
"$here/fetch.sh" "$cache"
cache=$(readlink -e "$cache")

talk=$(mktemp -d) qemu=
end() {
  if [[ -n $qemu ]]; then kill "$qemu" 2> /dev/null || true; wait "$qemu" 2> /dev/null || true; fi
  rm -rf "$talk"
}
trap end EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

printf '%s' "$kept" > "$talk/kept"
{
  # The caller's environment and folder. No limit on locked memory: tests that need one set it.
  export -p | grep -vE '^declare -x (TMPDIR|DISPLAY|OLDPWD|SHLVL)(=|$)' || true
  printf 'export WEFT_TEST_GUEST=1\nulimit -l unlimited\ncd %q\n' "$PWD"
  printf '(exec'; printf ' %q' "$@"; printf ')\necho $? > /run/talk/status\n'
} > "$talk/command"

folder() {
  printf '%s\n' -fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap${3:-}" \
    -device "virtio-9p-pci,fsdev=$1,mount_tag=$1"
}
mapfile -t folders < <(folder host / ,readonly=on; folder talk "$talk"; [[ -z $kept ]] || folder kept "$kept")

# The command's output comes through its own port, byte by byte as it was written; the kernel's messages go to a file.
# tsc=reliable: otherwise two emulated processors make the kernel use a clock that costs an exit for each reading.
# no_timer_check: on a busy machine the emulated timer is late, and a kernel that checks it does not boot.
exec {out}> >(cat)
printer=$!
setpriv --pdeathsig KILL timeout --foreground --kill-after 5 "$seconds" setpriv --pdeathsig KILL qemu-system-x86_64 \
  -no-user-config -nodefaults -display none -no-reboot -M q35 -accel "${WEFT_GUEST_ACCEL:-tcg,thread=multi}" \
  -cpu max -smp 2 -m 1G -kernel "$cache/vmlinux" -initrd "$cache/initramfs" \
  -append "console=ttyS0 panic=-1 mitigations=off no5lvl nokaslr tsc=reliable no_timer_check maxcpus=1" \
  -serial "file:$talk/console" -device virtio-serial-pci -chardev "file,id=out,path=/dev/fd/$out" \
  -device virtserialport,chardev=out,name=out "${folders[@]}" < /dev/null &
qemu=$!
exec {out}>&-
code=0
wait "$qemu" || code=$?
qemu=
wait "$printer" || true
if ((code == 124 || code == 137)); then
  echo "the guest was not done after $seconds s" >&2
  exit 124
fi
if [[ ! -s $talk/status ]]; then
  echo "the guest broke down; the last of its console:" >&2
  tail -n 30 "$talk/console" >&2 || true
  exit 125
fi
exit "$(cat "$talk/status")"
