# SPDX-License-Identifier: Apache-2.0
# The benchmarks between two hosts, which are network namespaces; and what they leave behind.
. "$(dirname "$0")/common.sh"
command -v ip >/dev/null || skip "ip is not installed (iproute2)"
unshare --net true 2>/dev/null || skip "network namespaces are forbidden here"

for name in latency rate bandwidth; do
  bench $name --transport tcp --hosts --size 64 --effort 0.02
  says 10.77.0.
done
bench overlap --transport tcp --hosts --size 64 --effort 0.02 --pattern receiver_blocked --compute-us 100
bench compare --transport tcp --hosts --only latency --rounds 1 --effort 0.02 --skip "weft polling"
says "raw socket"

for name in latency compare; do
  said=$(weft-bench $name --transport shm --hosts 2>&1) && exit 1
  says "hosts share no memory; add --transport tcp"
done

# Killed without a chance to clean up: no process is left in the namespaces, so the kernel removes them.
weft-bench idle --transport tcp --hosts --seconds 60 >/dev/null 2>&1 &
killed=$!
here=$(readlink /proc/self/ns/net)
there=$here
for _ in $(seq 100); do
  there=$(readlink /proc/$killed/ns/net)
  [ "$there" = "$here" ] || break
  sleep 0.1
done
[ "$there" != "$here" ]
kill -KILL $killed
wait $killed 2>/dev/null || true
for _ in $(seq 100); do
  left=$(readlink /proc/[0-9]*/ns/net 2>/dev/null | grep -cF "$there" || true)
  [ "$left" = 0 ] && break
  sleep 0.1
done
[ "$left" = 0 ] || { echo "somebody is still on a host that should be gone"; exit 1; }

# Not permitted: cause and cure.
if setpriv --bounding-set=-sys_admin true 2>/dev/null; then
  said=$(setpriv --bounding-set=-sys_admin weft-bench latency --transport tcp --hosts 2>&1) && exit 1
  says "cannot make a network namespace: Operation not permitted"
  says "run it as root"
fi
