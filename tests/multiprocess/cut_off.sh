# SPDX-License-Identifier: Apache-2.0
# cut_off.sh PROGRAM: two hosts (network namespaces) and a switch between them, which loses its cables under traffic.
# WEFT_PEER_TIMEOUT later each rank has lost the ranks of the other host, and goes on with its neighbour.
program=$1
skip() {
  echo "skipped: $*"
  exit 77
}
command -v ip >/dev/null || skip "ip is not installed (iproute2)"
[ "$(id -u)" = 0 ] || skip "only root can make network namespaces"

hosts=(weft-c-$$ weft-d-$$) hub=weft-h-$$ pids=()
clean() {
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  for n in "${hosts[@]}" $hub; do ip netns del "$n" 2>/dev/null || true; done
}
trap clean EXIT
for n in "${hosts[@]}" $hub; do ip netns add "$n" 2>/dev/null || skip "network namespaces are forbidden here"; done
ip -n $hub link add switch type bridge 2>/dev/null || skip "this kernel has no bridges"
ip -n $hub link set switch up
for i in 0 1; do
  ip -n "${hosts[i]}" link add net type veth peer name port$i netns $hub 2>/dev/null ||
    skip "links between network namespaces are forbidden here"
  ip -n $hub link set port$i master switch up
  ip -n "${hosts[i]}" addr add 10.78.0.$((i + 1))/24 dev net
  ip -n "${hosts[i]}" link set net up
  ip -n "${hosts[i]}" link set lo up
done

export WEFT_TRANSPORTS=tcp WEFT_PEER_TIMEOUT=2
WEFT_JOB_KEY=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export WEFT_JOB_KEY
for rank in 0 1 2 3; do
  timeout -s KILL 100 ip netns exec "${hosts[rank / 2]}" "$program" $rank 10.78.0.1 10.78.0.2 >rank$rank.txt &
  pids+=($!)
done
# The switch is cut when all ranks have heard from all; a rank that ended before says why.
for rank in 0 1 2 3; do
  until grep -q ready rank$rank.txt; do
    kill -0 "${pids[rank]}" 2>/dev/null || { echo "rank $rank ended before the cut"; exit 1; }
    sleep 0.1
  done
done
for i in 0 1; do ip -n $hub link set port$i down; done

bad=0
for pid in "${pids[@]}"; do wait "$pid" || bad=1; done
pids=()
cat rank?.txt
exit $bad
