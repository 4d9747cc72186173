# SPDX-License-Identifier: Apache-2.0
# Ranks that meet at rank 0, started as each starter does: by hand, as torchrun and as an Indexed Job of Kubernetes, with
# two ranks on each of two hosts (network namespaces); and 64 processes on one host.
. "$(dirname "$0")/common.sh"

export WEFT_JOB_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')

# many SIZE COMMAND...: SIZE ranks on this host, by hand; the output of all in many.txt.
many() {
  local size=$1 rank pids=()
  shift
  for rank in $(seq 0 $((size - 1))); do
    WEFT_RANK=$rank WEFT_SIZE=$size WEFT_ROOT=localhost:7479 timeout -k 5 100 "$@" &
    pids+=($!)
  done >many.txt 2>&1
  for rank in "${pids[@]}"; do wait "$rank"; done
}
many 64 hello || { cat many.txt; exit 1; }
for rank in $(seq 0 63); do
  [ "$(grep -c "hello from rank $rank\$" many.txt)" = 1 ] || { cat many.txt; exit 1; }
done

# What is wrong is said by name: another size, another key, a rank that does not come.
refused() {  # refused WORDS RANK SIZE [VARIABLE=VALUE]: what a process that should not be in the job says
  local words=$1 rank=$2 size=$3
  shift 3
  env WEFT_RANK=$rank WEFT_SIZE=$size WEFT_ROOT=localhost:7479 "$@" timeout -k 5 60 hello >refused.txt 2>&1 && exit 1
  grep -q "$words" refused.txt || { cat refused.txt; exit 1; }
}
for rank in 0 1; do
  WEFT_RANK=$rank WEFT_SIZE=4 WEFT_ROOT=localhost:7479 WEFT_START_TIMEOUT=10 timeout -k 5 60 hello >came$rank.txt 2>&1 &
done
refused "the job at rank 0 has 4 ranks, and this process is started as rank 2 of 5" 2 5
refused "this side's job key is not that job's" 2 4 WEFT_JOB_KEY=00112233445566778899aabbccddeeff
refused "needs a job key" 2 4 WEFT_JOB_KEY=
wait
for rank in 0 1; do
  grep -q "ranks 2 to 3 of 4 did not come within 10 s" came$rank.txt || { cat came$rank.txt; exit 1; }
done

. "$(dirname "$0")/../support/two_hosts.sh"
weft-info | grep -q "transport: tcp" || skip "this weft is built without the transport tcp"
# host NUMBER COMMAND...: a process on the first or second host, with a name that a pod may have.
host() {
  local at=$one name=$pod
  [ "$1" = 1 ] || at=$two
  shift
  timeout -k 5 100 ip netns exec "$at" unshare --uts --mount bash -c \
    "hostname $name; mount --bind $PWD/names /etc/hosts; exec \"\$@\"" host "$@"
}
heat --steps 100 "$picture" alone.pgm
# four HOW: ranks 0 and 1 on the first host, 2 and 3 on the second one. HOW sets the variables of a rank.
four() {
  local rank pids=()
  for rank in 0 1 2 3; do
    pod=heat-$rank
    printf '127.0.0.1 localhost\n10.77.0.1 heat-0.heat.test heat-0\n' >names
    [ $rank = 0 ] || printf '10.77.0.%s heat-%s.heat.test heat-%s\n' $((1 + rank / 2)) $rank $rank >>names
    cp names names.$rank
    (
      "$1" $rank
      cp names.$rank names
      host $((1 + rank / 2)) heat --steps 100 "$picture" "$PWD/four.pgm"
    ) >four.$rank.txt 2>&1 &
    pids+=($!)
    sleep 0.1  # the file `names` is bound by then
  done
  for rank in "${pids[@]}"; do wait "$rank" || { cat four.*.txt; exit 1; }; done
  cat four.0.txt
  cmp alone.pgm four.pgm
  rm four.pgm
}
by_hand() { export WEFT_RANK=$1 WEFT_SIZE=4 WEFT_ROOT=10.77.0.1:7471; }
torchrun() { export RANK=$1 WORLD_SIZE=4 MASTER_ADDR=10.77.0.1 MASTER_PORT=29500; }
pod() { export JOB_COMPLETION_INDEX=$1 WEFT_SIZE=4; }
four by_hand
four torchrun
four pod
