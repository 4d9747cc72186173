# SPDX-License-Identifier: Apache-2.0
# A weft program runs unchanged under srun, and says so where it cannot. Starts a Slurm of one machine in its own
# namespaces: its processes, files and ports are gone when this process ends, in any way.
. "$(dirname "$0")/common.sh"
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd srun ip; do
  command -v $program >/dev/null || skip "$program is not installed (packages/long.txt, packages/build.txt)"
done
if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || skip "only root can make namespaces and start slurmd"
  unshare --pid --fork --mount --net --uts true 2>/dev/null || skip "namespaces are forbidden here"
  exec unshare --pid --fork --kill-child --mount-proc --net --uts bash -eu "$0" inside
fi

hostname one
ip link set lo up
# Slurm looks names up as glibc does where there is a network: the loopback does not count as one.
ip link add here type veth peer name there || skip "links between network namespaces are forbidden here"
ip addr add 10.77.0.1/24 dev here
ip link set here up
mount -t tmpfs slurm /run
mkdir /run/state /run/spool /run/tmp
printf '127.0.0.1 localhost\n10.77.0.1 one\n' >/run/hosts
mount --bind /run/hosts /etc/hosts
cat >/run/slurm.conf <<'END'
ClusterName=weft
SlurmctldHost=one
NodeName=one CPUs=8 State=UNKNOWN
PartitionName=all Nodes=one Default=YES State=UP
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
SlurmdSpoolDir=/run/spool
TmpFS=/run/tmp
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
END
export SLURM_CONF=/run/slurm.conf
slurmctld -D >/run/slurmctld.log 2>&1 &
slurmd -D >/run/slurmd.log 2>&1 &

for try in $(seq 100); do
  if sinfo -h -o %t 2>/dev/null | grep -qx idle; then break; fi
  if [ "$try" = 100 ]; then
    tail -n 20 /run/slurmctld.log /run/slurmd.log
    exit 1
  fi
  sleep 0.1
done

# 124: it did not end.
job() { timeout -k 5 30 srun "$@"; }
job --mpi=list 2>&1 | grep -qw pmix || skip "this Slurm has no plug-in for PMIx"

same_as_alone job --mpi=pmix

# weft's own launcher under it counts as the launcher.
job --mpi=pmix -n 1 weft-run -n 2 hello | grep -q "hello from rank 1"
job --mpi=none -n 1 weft-run -n 2 hello | grep -q "hello from rank 1"

# A benchmark is two ranks of the job, in place of processes that it starts.
if command -v weft-bench >/dev/null; then
  job --mpi=pmix -n 2 weft-bench latency --size 8 --effort 0.02 --json >latency.txt
  [ "$(grep -c '"bench":"latency"' latency.txt)" = 1 ]
  if job --mpi=none -n 2 weft-bench latency --size 8 >alone.txt 2>&1; then exit 1; fi
  grep -q "use srun --mpi=pmix" alone.txt
fi

# A rank that is killed ends the job, or the others' channels tell them.
cat >victim.sh <<'END'
if [ "$SLURM_PROCID" = 1 ]; then (sleep 1; kill -9 $$) & fi
exec heat --steps 100000000 "$1" dead.pgm
END
code=0
job --mpi=pmix -n 3 bash victim.sh "$picture" >victim.txt 2>&1 || code=$?
if [ $code = 0 ] || [ $code = 124 ]; then
  echo "a job whose rank was killed ended with $code: well, or not at all"
  exit 1
fi

# Without PMIx the ranks meet at rank 0, if they have a key in common.
for kind in none pmi2; do
  if job --mpi=$kind -n 2 hello >$kind.txt 2>&1; then
    echo "processes that srun --mpi=$kind started should have said that they do not know each other"
    exit 1
  fi
  cat $kind.txt
  [ "$(grep -c "of 2 (Slurm) needs a job key" $kind.txt)" = 2 ]
  [ "$(grep -c "use srun --mpi=pmix" $kind.txt)" = 2 ]
done
export WEFT_JOB_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
same_as_alone job --mpi=none
job --mpi=none -n 2 weft-info >info.txt
grep -q "Slurm  *> rank 1 of 2, rank 0 at one:" info.txt || { cat info.txt; exit 1; }
job --mpi=none -n 1 hello | grep -q "hello from rank 0"
job --mpi=none -n 2 env -u SLURM_STEP_NUM_TASKS hello | grep -c "hello from rank 0" | grep -qx 2

# The sample's batch file, as it stands.
unset WEFT_JOB_KEY
sed "s/^srun /&--mpi=none /" "$SAMPLES/hosts/heat.sbatch" | PICTURE=$picture sbatch --wait --output batch.txt --chdir "$PWD" || { cat batch.txt; exit 1; }
cat batch.txt
cmp alone.pgm heat.pgm
