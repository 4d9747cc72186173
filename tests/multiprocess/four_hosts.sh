# SPDX-License-Identifier: Apache-2.0
# Four hosts and one job, as an operator has them: started in each way, encrypted, with counters to scrape and one trace
# of all ranks. The hosts are namespaces of network, name and clock, with a switch between them; all of it is gone when
# this script ends, in any way. It needs weft-info, heat and survive on PATH, and the samples' folder in $SAMPLES.
skip() {
  echo "skipped: $*"
  exit 77
}
if [ "${1:-}" != inside ]; then
  command -v ip >/dev/null || skip "ip is not installed (iproute2)"
  [ "$(id -u)" = 0 ] || skip "only root can make hosts of namespaces"
  unshare --pid --fork --mount --net --uts --time --monotonic 1 true 2>/dev/null || skip "namespaces are forbidden here"
  weft-info --version | grep -q "^built with: .*tls" || skip "weft is built without OpenSSL"
  exec unshare --pid --fork --kill-child --mount-proc --mount --net --uts bash -eu "$0" inside
fi

# --- the hosts: node0 to node3, at 10.78.0.10 to 10.78.0.13 ---------------------------------------
mount -t tmpfs weft /run
mkdir /run/netns
ip link add switch type bridge 2>/dev/null || skip "this kernel has no bridges"
ip addr add 10.78.0.1/24 dev switch
ip link set switch up
ip link set lo up
printf '127.0.0.1 localhost\n10.78.0.1 head\n' >/run/hosts
for n in 0 1 2 3; do
  ip netns add node$n
  ip link add port$n type veth peer name eth0 netns node$n
  ip link set port$n master switch up
  ip -n node$n addr add 10.78.0.1$n/24 dev eth0
  ip -n node$n link set eth0 up
  ip -n node$n link set lo up
  # A pod's name in the headless service "heat", and the node's.
  printf '10.78.0.1%s heat-%s.heat.test heat-%s node%s\n' $n $n $n $n >>/run/hosts
done
mount --bind /run/hosts /etc/hosts
# on NUMBER NAME COMMAND...: runs it on that host, which has that name, and a clock of its own: an hour ahead of the
# host before.
on() {
  local n=$1 name=$2
  shift 2
  nsenter --net=/run/netns/node$n unshare --uts --time --fork --kill-child --monotonic $((3600 * n)) \
    bash -c 'hostname "$0"; exec "$@"' "$name" "$@"
}

# --- the job ------------------------------------------------------------------------------------
export WEFT_JOB_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export WEFT_TCP_TLS=yes
picture=$SAMPLES/heat/picture.pgm
env -u WEFT_TCP_TLS heat --steps 100 "$picture" alone.pgm >/dev/null

# What each starter says to the rank of that number.
by_hand() { export WEFT_RANK=$1 WEFT_SIZE=4 WEFT_ROOT=10.78.0.10:7471; }
torchrun() { export RANK=$1 WORLD_SIZE=4 MASTER_ADDR=10.78.0.10 MASTER_PORT=29500; }
pod() { export JOB_COMPLETION_INDEX=$1 WEFT_SIZE=4; }

# job STARTER: a rank on each host. The counters of rank N are in STARTER.N.prom, its trace in STARTER.N.json.
job() {
  local how=$1 rank pids=()
  rm -f "$how".*
  export WEFT_METRICS=$PWD/$how.prom WEFT_TRACE=$PWD/$how.json
  for rank in 0 1 2 3; do
    ("$how" $rank && on $rank heat-$rank timeout -k 5 60 heat --steps 100 "$picture" "$PWD/four.pgm") >"$how.$rank.txt" 2>&1 &
    pids+=($!)
  done
  for rank in "${pids[@]}"; do wait "$rank" || { cat "$how".*.txt; exit 1; }; done
  check "$how"
}

# --- what is checked of each job --------------------------------------------------------------------
# sum FAMILY STARTER: of that counter over all ranks.
sum() { awk -v of="$1" 'index($0, of "{") == 1 { n += $2 } END { printf "%.0f\n", n }' "$2".[0-3].prom; }
equal() { [ "$2" = "$3" ] || { echo "$1: $2 and $3"; exit 1; }; }
check() {
  local how=$1
  echo "--- $how"
  cmp alone.pgm four.pgm  # the same result as of one process
  rm four.pgm

  # Counters: what was sent was received, and all of it was encrypted.
  [ "$(ls "$how".[0-3].prom | wc -l)" = 4 ]
  tail -q -n 1 "$how".[0-3].prom | grep -c "# EOF" | grep -qx 4
  equal "bytes" "$(sum weft_sent_bytes_total "$how")" "$(sum weft_received_bytes_total "$how")"
  equal "messages" "$(sum weft_sent_messages_total "$how")" "$(sum weft_received_messages_total "$how")"
  equal "handshakes that failed" 0 "$(sum weft_failed_handshakes_total "$how")"
  [ "$(sum weft_sent_bytes_total "$how")" -gt 10000 ]
  [ "$(sum weft_encrypted_connections_total "$how")" -ge 6 ]  # each rank to its neighbours, counted at both ends
  [ "$(sum weft_sealed_bytes_total "$how")" -ge "$(sum weft_sent_bytes_total "$how")" ]

  # Traces: four files, of four clocks, in one for Perfetto. Messages say how far the clocks are apart.
  weft-info --merge-traces "$how.all.json" "$how".[0-3].json >"$how.clocks"
  cat "$how.clocks"
  equal "clocks that messages bring together" 3 "$(grep -c ' µs, by messages in both directions' "$how.clocks")"
  # The hour of each, as exactly as is said: "the host of rank 2: -7199999995 µs, by messages ..., within 47.8 µs".
  awk '/by messages/ { n = $5 + 0; wrong = $6 + 3600e6 * n; error = $(NF - 1) + 1
                       if (wrong > error || -wrong > error) { print "wrong: " $0; exit 1 } }' "$how.clocks"
  local rank
  for rank in 0 1 2 3; do grep -q "\"name\":\"rank $rank\"" "$how.all.json"; done
}

job by_hand
job torchrun
job pod

# --- a rank is killed in the middle of its work, and started again, as systemd would ------------------
echo "--- kill and return"
rm -f return.*
unset WEFT_TRACE
export WEFT_METRICS=$PWD/return.prom
work() { on $1 heat-$1 timeout -k 5 60 survive --steps 1000 --kill 2 --at 505 --replace; }
pids=()
for rank in 0 1 3; do
  (by_hand $rank && work $rank) >return.$rank.txt 2>&1 &
  pids+=($!)
done
! (by_hand 2 && work 2) >return.2.txt 2>&1 || { echo "rank 2 lives"; exit 1; }
(by_hand 2 && work 2) >return.2.txt 2>&1 || { cat return.*.txt; exit 1; }
for rank in "${pids[@]}"; do wait "$rank" || { cat return.*.txt; exit 1; }; done
cat return.2.txt return.0.txt
grep -qx "rank 2 has come back, and goes on with step 500" return.2.txt
grep -qx "right after 1000 steps, on 4 ranks" return.0.txt
equal "handshakes that failed" 0 "$(sum weft_failed_handshakes_total return)"

# --- Slurm, where it is: its own daemons on the four hosts ------------------------------------------
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd srun; do
  command -v $program >/dev/null || { echo "without Slurm: $program is not installed (packages/long.txt)"; exit 0; }
done
mkdir /run/state /run/tmp /run/spool.node{0..3}
cat >/run/slurm.conf <<'END'
ClusterName=weft
SlurmctldHost=head
NodeName=node[0-3] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
SlurmdParameters=config_overrides
SlurmUser=root
SlurmdUser=root
# No other machine is in this network.
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
StateSaveLocation=/run/state
SlurmdSpoolDir=/run/spool.%n
TmpFS=/run/tmp
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
END
export SLURM_CONF=/run/slurm.conf
hostname head
slurmctld -D >/run/slurmctld.log 2>&1 &
for n in 0 1 2 3; do on $n node$n slurmd -D >/run/slurmd.$n.log 2>&1 & done
for try in $(seq 200); do
  if [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c '^idle$')" = 4 ]; then break; fi
  if [ "$try" = 200 ]; then
    tail -n 20 /run/slurmctld.log /run/slurmd.*.log
    exit 1
  fi
  sleep 0.1
done
rm -f slurm.*
WEFT_METRICS=$PWD/slurm.prom WEFT_TRACE=$PWD/slurm.json timeout -k 5 60 srun --mpi=none -N 4 -n 4 \
  heat --steps 100 "$picture" "$PWD/four.pgm" >slurm.txt 2>&1 || { cat slurm.txt; exit 1; }
check slurm
