# SPDX-License-Identifier: Apache-2.0
# The result is what sort(1) makes of the same numbers, on one rank and on several, and for few and no numbers.
lines() { od -An -v -w8 -t u8 "$1" | tr -d ' '; }

for ranks in 1 2 4; do
  weft-run -n $ranks sort_numbers --make 20000 numbers.$ranks sorted.$ranks | tee said.txt
  grep -q "20000 numbers in order, on $ranks ranks" said.txt
  cmp numbers.1 numbers.$ranks
  cmp sorted.1 sorted.$ranks
done
cmp <(lines numbers.1 | LC_ALL=C sort -n) <(lines sorted.1)

head -c 24 numbers.1 >three
weft-run -n 4 sort_numbers three sorted-three | grep -q "3 numbers in order"
cmp <(lines three | LC_ALL=C sort -n) <(lines sorted-three)
yes aaaaaaa | head -c 80000 >equal
weft-run -n 3 sort_numbers equal sorted-equal | grep -q "10000 numbers in order"
cmp equal sorted-equal
: >empty
weft-run -n 2 sort_numbers empty sorted-empty | grep -q "0 numbers in order"
[ ! -s sorted-empty ]

# Errors tell their reason.
if weft-run -n 2 sort_numbers no-such-file out 2>error.txt; then exit 1; fi
grep -q "sort_numbers: .*no-such-file" error.txt
head -c 9 numbers.1 >odd
if weft-run -n 2 sort_numbers odd out 2>error.txt; then exit 1; fi
grep -q "odd has no whole number of numbers" error.txt
