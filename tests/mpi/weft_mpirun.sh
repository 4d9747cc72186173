# SPDX-License-Identifier: Apache-2.0
# weft-mpirun as users start it: its messages, and what it passes on.
. "$(dirname "$0")/common.sh"
says() { grep -qE -- "$1" said.txt || { cat said.txt; fail "missing: $1"; }; }
silent() { if grep -qE -- "$1" said.txt; then cat said.txt; fail "should not be there: $1"; fi; }
# ends STATUS ARGUMENTS...: weft-mpirun ends with that status; its output is in said.txt.
ends() {
  local code=0
  timeout -k 5 50 weft-mpirun "${@:2}" >said.txt 2>&1 || code=$?
  [ $code = "$1" ] || { cat said.txt; fail "ended with $code, not $1: weft-mpirun ${*:2}"; }
}

ends 0 --verify
says "MPI runs on weft"
says "verified: 2 ranks"
ends 0 --verify -n 3
says "verified: 3 ranks"
ends 0 --system-libfabric --verify
says "MPI runs on weft"
says "verified: 2 ranks"
ends 0 --default --verify
silent "MPI runs on weft"

ends 0 --quiet -n 2 mpi-conformance self
silent "MPI runs on weft"
says "^self +ok"

ends 0 --print -n 2 ./a.out "two words"
says "LD_LIBRARY_PATH=[^ ]*/slim"
says "(^|^env .* )/.*mpirun.* --mca mtl_ofi_provider_include weft .* -n 2 ./a.out 'two words'$"

# A program that does not use Open MPI, and one that fails by itself on weft.
ends 0 -n 2 true
says "no rank said that it runs on weft"
ends 3 -n 2 sh -c 'exit 3'
says "ended with status 3 before rank 0 said that it runs on weft"
says "Why is not known here"
# A program that fails after MPI_Init.
ends 1 -n 2 sh -c 'mpi-conformance self && exit 1'
silent "before rank 0 said"

# weft cannot be used: weft-mpirun says so at once, or MPI_Init does.
ends 1 --provider /nowhere -n 2 true
says "libweft-fi.so was not found"
export WEFT_SPIN=long
ends 1 -n 2 true
says "WEFT_SPIN=.long. makes no sense"
unset WEFT_SPIN
WEFT_TRANSPORTS=nonsense
export WEFT_TRANSPORTS
ends 1 -n 2 mpi-conformance self
says "weft-mpirun: .*(cannot be|does not offer|before rank 0 said that it runs on weft)"
unset WEFT_TRANSPORTS
ends 2
says "program"

# A signal reaches mpirun, which ends the job.
weft-mpirun -n 2 endless >ranks.txt 2>said.txt &
job=$!
for try in $(seq 200); do
  if [ "$(grep -c "is process" ranks.txt)" = 2 ]; then break; fi
  sleep 0.1
done
kill -TERM $job
for try in $(seq 300); do
  if ! kill -0 $job 2>/dev/null; then break; fi
  sleep 0.1
done
if kill -0 $job 2>/dev/null; then
  ps -eo pid,ppid,stat,wchan:20,args | grep -E "mpirun|endless" || true
  kill -9 $job
  fail "SIGTERM did not end the job within 30 s"
fi
code=0
wait $job || code=$?
[ $code != 0 ] || fail "a job that was ended with SIGTERM ended well"
for pid in $(sed 's/.*process //' ranks.txt); do
  if grep -qs endless "/proc/$pid/cmdline"; then fail "process $pid is left after SIGTERM"; fi
done
