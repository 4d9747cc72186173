# SPDX-License-Identifier: Apache-2.0
# Ranks start further ranks while they run (MPI's dynamic processes), which join them over weft.
. "$(dirname "$0")/common.sh"
limit=40
for transports in self,shm self,tcp; do
  WEFT_TRANSPORTS=$transports on_weft -n 2 spawning-mpi >said.txt 2>&1 || { cat said.txt; fail "over $transports"; }
  test "$(grep -c ": right" said.txt)" = 4 || { cat said.txt; fail "four ranks over $transports"; }
  # One line from each of the two jobs.
  test "$(grep -c "MPI runs on weft" said.txt)" = 2 || { cat said.txt; fail "both jobs run on weft"; }
done
