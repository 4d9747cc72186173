# SPDX-License-Identifier: Apache-2.0
# A rank that is killed ends the job: mpirun says so, the other ranks end, and they leave nothing behind.
. "$(dirname "$0")/common.sh"
# In its own namespaces, where only this test can leave something behind.
if [ "${1:-}" != inside ] && [ "$(id -u)" = 0 ] && unshare --mount --net true 2>/dev/null; then
  exec unshare --mount --net bash -eu "$0" inside
fi
if [ "${1:-}" = inside ]; then
  ip link set lo up
  mount -t tmpfs shm /dev/shm
fi
left_in_shm() { ls /dev/shm; }
left_sockets() { awk '$8 ~ /^@weft/ { print $8 }' /proc/net/unix; }

for transports in self,shm self,tcp; do
  : > ranks.txt  # from the previous run
  before=$(left_in_shm; left_sockets)
  WEFT_TRANSPORTS=$transports on_weft -n 4 endless >"ranks.txt" 2>mpirun.txt &
  job=$!
  for try in $(seq 300); do
    if [ "$(grep -c "is process" ranks.txt)" = 4 ]; then break; fi
    if [ "$try" = 300 ] || ! kill -0 $job; then cat mpirun.txt; fail "the job did not start ($transports)"; fi
    sleep 0.1
  done
  mapfile -t ranks < <(sed 's/.*process //' ranks.txt)
  kill -9 "$(sed -n 's/rank 1 is process //p' ranks.txt)"
  code=0
  wait $job || code=$?
  cat mpirun.txt
  [ $code != 0 ] || fail "a job whose rank was killed ended well ($transports)"
  [ $code != 124 ] || fail "a job whose rank was killed did not end ($transports)"
  # Either mpirun is first, or a rank that misses its neighbour, whose error ends the job as MPI_ERRORS_ARE_FATAL says.
  mpirun_says "exited on signal 9|MPI_ERRORS_ARE_FATAL" mpirun.txt || fail "mpirun does not tell what happened ($transports)"
  # mpirun kills the others and does not wait for their end.
  for pid in "${ranks[@]}"; do
    for try in $(seq 100); do
      if ! grep -qs endless "/proc/$pid/cmdline"; then continue 2; fi
      sleep 0.1
    done
    fail "process $pid is left ($transports)"
  done
  after=$(left_in_shm; left_sockets)
  if [ "$before" != "$after" ]; then
    printf 'before:\n%s\nafter:\n%s\n' "$before" "$after"
    fail "something is left of the job ($transports)"
  fi
done
