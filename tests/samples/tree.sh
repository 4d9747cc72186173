# SPDX-License-Identifier: Apache-2.0
# Seven ranks: a root, two inner ranks, four leaves. Each checks the received data.
weft-run -n 7 tree >tree.txt
cat tree.txt
grep -q "100 broadcasts of 4096 bytes to 6 sleeping ranks" tree.txt
weft-run -n 2 tree
