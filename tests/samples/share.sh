# SPDX-License-Identifier: Apache-2.0
# The distribution of the pieces varies: every piece is taken by some rank, and all primes are found.
weft-run -n 4 share 1000000 >share.txt
cat share.txt
[[ $(awk '/pieces/ { n += $(NF - 1) } END { print n }' share.txt) == 50 ]]
grep -q "78498 primes below 1000000" share.txt
share 100 | grep -q "25 primes below 100"
