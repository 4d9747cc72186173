# SPDX-License-Identifier: Apache-2.0
# Kinds of transfers beside each other.
. "$(dirname "$0")/common.sh"

bench kinds --progress dedicated --rounds 1 --effort 0.02 --size 1K,256K --json
for kind in ordinary streaming cma direct memcpy; do says "\"kind\":\"$kind\""; done
says '"to_ordinary":'

bench kinds --rounds 1 --effort 0.02 --size 16K --latency --read --cold --kinds ordinary,cma --json
says '"half_rtt_us":'
says '"measure":"latency"'
bench kinds --rounds 1 --effort 0.02 --propose
says 'set WEFT_SHM_STORES='
