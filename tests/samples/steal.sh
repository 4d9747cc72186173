# SPDX-License-Identifier: Apache-2.0
# Each number is taken once, by some rank, and rank 0 checks the sum; alone, with more ranks than numbers, and with
# ranks that have to steal.
totals() { awk '/numbers,/ { n += $(NF - 3); t += $(NF - 1) } END { print n, t > 0 }' steal.txt; }
for ranks in 1 2 4; do
  weft-run -n $ranks steal 3000 >steal.txt
  cat steal.txt
  grep -q "2736188 pairs of numbers up to 3000" steal.txt
  [ "$(totals | cut -d ' ' -f 1)" = 3000 ]
done
weft-run -n 6 steal 3 | grep -q "4 pairs of numbers up to 3"
