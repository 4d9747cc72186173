#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The guest's first process: mounts this machine's files, makes a soft RDMA device, runs the command, and powers off.
/bin/busybox mkdir -p /proc /sys /dev /host /talk /changes /all
/bin/busybox --install -s /bin
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
trap 'poweroff -f' EXIT

load() { for module in "$@"; do modprobe "$module" || echo "guest: no module $module" > /dev/console; done; }
shared() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2"; }

# All files of the host; written data stays in memory.
load virtio_pci virtio_console 9pnet_virtio 9p overlay
shared host /host cache=loose,ro || exit 1
shared talk /talk cache=none || exit 1
mount -t tmpfs changes /changes
mkdir /changes/upper /changes/work
mount -t overlay -o lowerdir=/host,upperdir=/changes/upper,workdir=/changes/work root /all || exit 1
mount -t proc proc /all/proc
mount -t sysfs sys /all/sys
mount -o bind /dev /all/dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t devpts -o ptmxmode=666 pts /dev/pts
mount -t tmpfs run /all/run
chmod 1777 /dev/shm
mkdir /all/run/talk
mount -o bind /talk /all/run/talk
if [ -s /talk/kept ]; then
  kept=$(cat /talk/kept)
  mkdir -p "/all$kept"
  shared kept "/all$kept" cache=mmap || exit 1
fi

# One soft device on an interface without a network: all processes are on this machine.
hostname weft-guest
ip link set lo up
load dummy crc32_generic crc32_pclmul rdma_rxe  # dummy makes dummy0
ip link set dummy0 mtu 9000 up
ip addr add 10.77.0.1/24 dev dummy0
chroot /all rdma link add rxe0 type rxe netdev dummy0 || echo "guest: no rxe0" > /dev/console

# The second processor is started late: the emulated kernel boots faster with one.
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 1 > "$cpu"; done
echo ready > /talk/ready
chroot /all /bin/bash /run/talk/command < /dev/null 2>&1 | cat > "$(ls /dev/vport*p1)"
sync
