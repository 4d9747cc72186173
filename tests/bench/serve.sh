# SPDX-License-Identifier: Apache-2.0
# Benchmarks whose other side a server on another host runs: two network namespaces here. What the server does with
# clients that die, are silent, or do not have its key.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/two_hosts.sh"

port=7499
at="10.77.0.2:$port"
for name in key other; do (umask 077; head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >$name); done

# serve: starts a server on the second host; its output goes to served.txt, its process is $server.
serve() {
  ip netns exec $two weft-bench serve --port $port --key-file key >served.txt 2>&1 &
  server=$!
  prints served.txt "serves at tcp://0.0.0.0:$port"
}
# prints FILE TEXT: waits until it is there.
prints() {
  local try
  for try in $(seq 200); do
    grep -qF -- "$2" $1 && return
    sleep 0.05
  done
  cat $1
  echo "not printed to $1: $2"
  exit 1
}
# client ARGUMENTS...: on the first host.
client() { ip netns exec $one timeout -s KILL 60 weft-bench "$@" --to "$at" --key-file key; }
measures() {
  echo "+ weft-bench $*"
  said=$(client "$@" 2>&1) || { echo "$said"; cat served.txt; exit 1; }
  echo "$said"
}
refuses() {
  echo "+ weft-bench ${*:2}"
  said=$("${@:2}" 2>&1) && { echo "$said"; exit 1; }
  echo "$said"
  says "$1"
}

serve
measures latency --transport tcp --size 64 --effort 0.02
says "tcp, 10.77.0.1:"
measures overlap --transport tcp --size 64 --effort 0.02 --pattern receiver_blocked --compute-us 100 --json
says '"excess_us":'
measures rdma --transport tcp --rounds 1 --size 4096 --effort 0.02 --json # many contexts by turns
says '"rest":"put"'
measures stream --transport tcp --rounds 1 --size 64 --json
says '"by":"stream"'
if grep -q "Unix socket" <<<"$said"; then exit 1; fi  # it is on this host alone
refuses "--transport shm does not reach the other side; tcp and verbs reach other hosts" client latency --transport shm --size 8

# Not the key; no server; no route; no benchmark for a server.
refuses "job key" ip netns exec $one weft-bench latency --to $at --key-file other
refuses "the same job key: make one" env -u WEFT_JOB_KEY -u WEFT_JOB_KEY_FILE weft-bench latency --to $at
refuses "nobody listens there" ip netns exec $one weft-bench latency --to 10.77.0.2:7498 --key-file key
refuses "unreachable" ip netns exec $one weft-bench latency --to 10.99.0.1 --key-file key
refuses "--to" weft-bench compare --to $at

# Garbage at its port, connections that stay silent, and clients that die in the middle: the next client is served.
ip netns exec $one bash -c "head -c 3000 /dev/urandom >/dev/tcp/10.77.0.2/$port" || true
ip netns exec $one bash -c "exec 5<>/dev/tcp/10.77.0.2/$port; sleep 60" &
silent=$!
# long FILE: a client that measures for long; its output goes to FILE, its process is $dying.
long() {
  ip netns exec $one weft-bench latency --transport tcp --size 8 --effort 10000 --to "$at" --key-file key >$1 2>&1 &
  dying=$!
  prints $1 "tcp, 10.77.0.1:"
}
long first.txt
refuses "it is busy with another client; try again later" client latency --transport tcp
kill -KILL $dying
wait $dying 2>/dev/null || true
prints served.txt "its process died or its connection broke"
measures latency --transport tcp --size 64 --effort 0.02

# The other side dies, then the server: the client is told which.
long second.txt
pkill -KILL -P $server
wait $dying && exit 1
cat second.txt
grep -q "it died by signal 9" second.txt
long third.txt
kill -KILL $server
wait $dying && exit 1
cat third.txt
grep -q "the server $at or its host has gone" third.txt
kill $silent
