# SPDX-License-Identifier: Apache-2.0
# weft and other libraries beside processes that want the same cores; those end with weft-bench, however that ends.
. "$(dirname "$0")/common.sh"

# Kernel's short name of this test's spinners: they are forks of a copy of weft-bench.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
spinner="spin$$"
bin=$(dirname "$(command -v weft-bench)")
ln -s "$bin"/* "$folder" 2>/dev/null || true
cp --remove-destination "$bin/weft-bench" "$folder/$spinner"
count() { pgrep -xc "$spinner" || true; }
gone() {
  for _ in $(seq 100); do
    [ "$(count)" -eq 0 ] && return
    sleep 0.1
  done
  echo "left behind: $(count) processes $spinner"
  pkill -KILL -x "$spinner"
  exit 1
}

bench latency --size 8,64k --for-ms 5 --json
says '"mean":'
bench company --spinners 1 --rounds 1 --effort 0.02 --ranks 4 --skip MPICH --json
says '"series":"latency 0 spinners"'
says '"series":"bandwidth 1 spinners"'
says '"series":"barrier 4 ranks 1 spinners"'
says '"contestant":"weft polling"'
says '"of":"weft dedicated"'
! command -v weft-peer-openmpi >/dev/null || ! command -v mpirun.openmpi >/dev/null || says '"contestant":"Open MPI vader"'

# Killed while its spinners run.
"$folder/$spinner" company --spinners 3 --rounds 1000 --ranks 0 --only "latency 3 spinners" >/dev/null 2>&1 &
running=$!
for _ in $(seq 100); do
  [ "$(count)" -ge 4 ] && break
  sleep 0.1
done
[ "$(count)" -ge 4 ] || { echo "no spinners: $(count)"; kill -KILL $running; exit 1; }
kill -KILL $running
wait $running 2>/dev/null || true
gone
