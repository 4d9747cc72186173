# SPDX-License-Identifier: Apache-2.0
# Benchmarks as ranks of a job: the launcher's processes are the sides, and only rank 0 prints.
. "$(dirname "$0")/common.sh"

# job N ARGUMENTS...: under weft-run; its output is shown and kept in $said, its end in $status.
job() {
  echo "+ weft-run -n $1 weft-bench ${*:2}"
  status=0
  said=$(timeout -s KILL 60 weft-run --no-label -n "$1" weft-bench "${@:2}" 2>&1) || status=$?
  echo "$said"
}
works() { [ $status = 0 ] || exit 1; }

job 2 latency --size 8 --effort 0.02 --json
works
[ "$(grep -c '"bench":"latency"' <<<"$said")" = 1 ]
job 2 overlap --size 64 --effort 0.02 --pattern sender_blocked --compute-us 100 --json
works
says '"excess_us":'
job 2 rdma --transport shm --rounds 1 --size 4096 --effort 0.02 --json # many contexts by turns
works
[ "$(grep -c '"rest":' <<<"$said")" = 25 ]
job 2 layers --rounds 1 --effort 0.01 --json
works
says '"layer":"transport"'
job 3 barrier --rounds 2 --json
works
says '"ranks":3'

# Wrong numbers, and benchmarks that start their own processes.
job 3 latency --size 8
says "latency is for two processes, and this job has 3: weft-run -n 2 weft-bench ..."
[ $status != 0 ]
job 1 values
says "values is for two processes, and this one is alone in its job: weft-run -n 2"
[ $status != 0 ]
job 1 barrier
says "fewer than 2 processes: weft-run -n 2"
[ $status != 0 ]
job 2 scale
says "scale is not for ranks of a job, each of which would do all of it: run it without weft-run"
[ $status != 0 ]
job 2 latency --transport tcp --hosts
says "leave it out under weft-run"
[ $status != 0 ]

# The launchers of others, if they and PMIx are here.
command -v mpirun.openmpi >/dev/null || skip "mpirun.openmpi is not installed (openmpi-bin)"
needs_part pmix
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
said=$(timeout -k 5 60 mpirun.openmpi -n 2 weft-bench latency --size 8 --effort 0.02 --json)
[ "$(grep -c '"bench":"latency"' <<<"$said")" = 1 ]
said=$(timeout -k 5 60 mpirun.openmpi -n 3 weft-bench alltoall --size 8 --effort 0.02 --json)
says '"ranks":3'
