# SPDX-License-Identifier: Apache-2.0
# Each rank checks its result; rank 0 prints it. Alone, as a ring of two, and of three.
pool_and_messages | grep -qx "pi is 3.1415926536: 1 ranks, [0-9]* threads each"
for n in 2 3; do
  weft-run -n $n pool_and_messages >pi.txt
  cat pi.txt
  grep -q "pi is 3.1415926536: $n ranks" pi.txt
done
