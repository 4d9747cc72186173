# SPDX-License-Identifier: Apache-2.0
# pingpong alone, between two ranks, with a third that is idle, and by address.
pingpong --rounds 20
weft-run -n 2 pingpong --rounds 20
weft-run -n 3 pingpong --rounds 20

# The first process waits at the listener; the second one tries until the listener is there.
listener=unix://pingpong-$$
: >listen.txt
pingpong --listen $listener >listen.txt &
listening=$!
trap 'kill $listening 2>/dev/null || true' EXIT
tail -f --pid=$listening listen.txt | grep -q -m 1 "waiting at"
pingpong --connect $listener --rounds 20
wait $listening
trap - EXIT

# The call tree of each rank: a file for each, or all on the standard error.
weft-run -n 2 --call-tree=tree.txt --call-tree-messages 4 pingpong --rounds 2
for rank in 0 1; do grep -q " $rank pingpong/.* - received from" tree.$rank.txt; done
weft-run -n 2 --call-tree --call-tree-messages 1 pingpong --rounds 1 2>&1 | grep -q "> send to 1, tag 1, 8 bytes"
