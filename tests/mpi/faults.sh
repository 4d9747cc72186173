# SPDX-License-Identifier: Apache-2.0
# The tables in docs/mpi.md about Open MPI's own layer. What weft puts right is wrong over libfabric's tcp;ofi_rxm (or the
# mend is out of date), and the rest comes out the same there: where it differs, weft has a fault of its own.
. "$(dirname "$0")/common.sh"
# what_comes COMMAND...: the ranks' output, and how the job ended. Distinguishes a job that goes on after its last line
# from a slow one.
what_comes() {
  local code=0
  timeout -k 20 10 "$@" >out.txt 2>err.txt || code=$?
  sort out.txt
  if mpirun_says "exited on signal 11" err.txt; then echo "crashed"; elif [ $code = 124 ] || [ $code = 137 ]; then echo "did not end"; else echo "ended with $code"; fi
}
root=
if [ "$(id -u)" = 0 ]; then root=--allow-run-as-root; fi
for fault in lower_bound exchange cancelled_send synchronous_and_claimed; do
  what_comes weft-mpirun -n 2 faults $fault >weft.txt
  # shellcheck disable=SC2086
  what_comes mpirun.openmpi $root --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "tcp;ofi_rxm" -n 2 faults $fault >rxm.txt
  if grep -q "cannot be selected\|were able to be opened" err.txt; then skip "libfabric has no tcp;ofi_rxm here"; fi
  echo "$fault:"
  cat weft.txt
  case $open_mpi,$fault in
    4,lower_bound | 4,exchange)
      grep -q "instead of" weft.txt || fail "$fault says nothing on weft"
      if grep "instead of" weft.txt | grep -qvE ": 12 (12 12; by Send: 12|13)$"; then fail "$fault is wrong on weft"; fi
      grep -q "ended with 0" weft.txt || fail "$fault does not end well on weft"
      ! cmp -s weft.txt rxm.txt || fail "$fault is right over tcp;ofi_rxm, too"
      ;;
    *) cmp weft.txt rxm.txt || { cat rxm.txt err.txt; fail "$fault differs over tcp;ofi_rxm"; } ;;
  esac
done
