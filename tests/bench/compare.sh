# SPDX-License-Identifier: Apache-2.0
# weft beside other libraries: each installed library takes part, and names itself.
. "$(dirname "$0")/common.sh"

bench compare --transport tcp --only latency,rate,bandwidth --rounds 1 --effort 0.02 --json
says '"contestant":"weft dedicated"'
says '"contestant":"raw socket"'
says '"contestant":"Asio coroutines"'
says '"about":'
! command -v weft-peer-zmq >/dev/null || says '"contestant":"ZeroMQ tcp"'
! command -v weft-peer-mpich >/dev/null || ! command -v mpirun.mpich >/dev/null || says '"contestant":"MPICH tcp"'
! command -v weft-peer-openmpi >/dev/null || ! command -v mpirun.openmpi >/dev/null || says '"contestant":"Open MPI tcp"'

for one in overlap "overlap --transport tcp"; do
  bench $one --effort 0.02 --size 8 --compute-us 100
done
bench compare --transport qdma --only latency --rounds 1 --effort 0.02 --json
says '"contestant":"weft read, chained"'
says '"contestant":"raw cache_line"'
