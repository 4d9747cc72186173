# SPDX-License-Identifier: Apache-2.0
# conformance.sh RANKS ARGUMENTS...: mpi-conformance on weft, on so many ranks.
. "$(dirname "$0")/common.sh"
limit=280
ranks=$1
shift
on_weft -n "$ranks" mpi-conformance -persistent_buffered "$@" 2>said.txt || { cat said.txt; fail "mpi-conformance $* on $ranks ranks"; }
cat said.txt
grep -q "MPI runs on weft" said.txt || fail "it did not run on weft"
