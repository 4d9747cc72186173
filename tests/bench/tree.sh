# SPDX-License-Identifier: Apache-2.0
# Broadcasts by chains and by messages.
. "$(dirname "$0")/common.sh"
needs_part qdma

bench tree --ranks 4 --rounds 3 --compute-us 0,200
says "4 ranks, 4096 bytes"
bench tree --ranks 7 --rounds 1 --compute-us 100 --json
says '"bench":"tree"'
says '"way":"chains"'
