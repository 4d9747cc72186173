# SPDX-License-Identifier: Apache-2.0
# Each number is taken once, by some rank, and rank 0 checks the sum; alone, and with more ranks than numbers.
for ranks in 1 2 4; do
  weft-run -n $ranks steal 3000 >steal.txt
  cat steal.txt
  grep -q "2736188 pairs of numbers up to 3000" steal.txt
  [ "$(awk '/thefts/ { n += $(NF - 3) } END { print n }' steal.txt)" = 3000 ]
done
weft-run -n 6 steal 3 | grep -q "4 pairs of numbers up to 3"
