# SPDX-License-Identifier: Apache-2.0
# The cost that each layer adds to a small message.
. "$(dirname "$0")/common.sh"
needs_part qdma

bench layers --rounds 1 --effort 0.02
says "above the transport"
for progress in polling dedicated; do
  bench layers --rounds 1 --effort 0.02 --progress $progress --json
  says "\"bench\":\"layers\",\"transport\":\"shm\",\"progress\":\"$progress\""
  for layer in transport "with protocol" "with coroutines"; do says "\"layer\":\"$layer\""; done
  says '"above_transport_ns":'
done
bench layers --rounds 1 --effort 0.02 --transport qdma
says "native queue"
bench layers --rounds 1 --effort 0.02 --transport qdma --size 4,1984 --json
says '"size":1984,"half_rtt_us"'
says '"layer":"native queue","native_bytes":2000'
says '"to_native":'
bench pieces --rounds 1 --effort 0.02 --size 4,4K --json
says '"way":"list of 8","pieces":8'
says '"more_us":'
