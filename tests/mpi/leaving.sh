# SPDX-License-Identifier: Apache-2.0
# Ranks that end without MPI_Finalize, or call it while their process exits, end with the status that they chose,
# without a crash in what weft leaves behind. 32 ranks exit, and 16 leave by each other way.
. "$(dirname "$0")/common.sh"
limit=60
# The first rank that ends does not end the others.
if [ "$open_mpi" = 4 ]; then go_on=(--mca orte_abort_on_non_zero_status 0); else go_on=(--runtime-options error-nonzero-status=0); fi
for way in exit thread signal atexit static; do
  : >statuses
  jobs=2
  if [ $way = exit ]; then jobs=4; fi
  for transports in $(printf "self,shm self,tcp\n%.0s" $(seq $((jobs / 2)))); do
    : >count
    WEFT_TRANSPORTS=$transports on_weft -n 8 "${go_on[@]}" \
      sh -c "leaving-mpi $way count; code=\$?; echo \$code >>statuses; exit \$code" >said.txt 2>&1 || true
  done
  test "$(sort statuses | uniq -c | tr -s ' ')" = " $((jobs * 8)) 3" || { cat said.txt; sort statuses | uniq -c; fail "$way"; }
done
for transports in self,shm self,tcp; do
  : >count
  code=0
  WEFT_TRANSPORTS=$transports on_weft -n 8 leaving-mpi abort count >said.txt 2>&1 || code=$?
  if [ $code != 3 ] || grep -q "Segmentation fault" said.txt; then
    cat said.txt
    fail "abort over $transports ended with $code"
  fi
done
