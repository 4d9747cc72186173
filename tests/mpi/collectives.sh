# SPDX-License-Identifier: Apache-2.0
# collectives.sh FOLDER: collectives by flags, of the library in FOLDER: with them and without, under weft and under
# Open MPI's own transports, and where a rank ends.
. "$(dirname "$0")/common.sh"
library=$1/libweft-mpi-collectives.so
for how in weft mpi; do
  on_weft --collectives=$how --quiet -n 3 mpi-conformance often_made || fail "--collectives=$how"
done
on_default -n 3 -x "LD_PRELOAD=$library" mpi-conformance often_made || fail "on Open MPI's own transports"
on_weft --quiet -n 3 mpi-conformance --threads often_made threads || fail "with threads"

# A rank ends, and the launcher does not end the others.
case $open_mpi in
  4) go_on="--mca orte_abort_on_non_zero_status 0 --mca orte_enable_recovery 1" ;;
  *) go_on="--runtime-options error-nonzero-status=0" ;;
esac
code=0
# shellcheck disable=SC2086
on_weft --quiet $go_on -n 3 lonely >said.txt 2>&1 || code=$?
[ $code != 124 ] || { cat said.txt; fail "ranks wait for one that has ended"; }
mpirun_says "has ended|exited on signal 9" said.txt || { cat said.txt; fail "nothing says that a rank has ended"; }

# It comes before the libraries that a program brings.
command -v readelf >/dev/null || skip "the rest: readelf is not installed (binutils)"
needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' ')
case $needed in *stdc++* | *fmt* | *gcc*) fail "the library needs $needed" ;; esac
