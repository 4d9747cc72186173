# SPDX-License-Identifier: Apache-2.0
# Every rank's greeting arrives once.
weft-run -n 4 hello >hello.txt
cat hello.txt
for rank in 0 1 2 3; do
  [ "$(grep -c "hello from rank $rank" hello.txt)" = 1 ]
done
