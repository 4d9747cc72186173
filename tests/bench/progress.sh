# SPDX-License-Identifier: Apache-2.0
# The cost of asynchronous progress, on every transport between two processes.
. "$(dirname "$0")/common.sh"
needs_part qdma

bench progress --rounds 1 --effort 0.02
says "condition variable"
says "paper to basic"
transports=qdma
[ "$LONG" != ON ] || transports="shm qdma tcp"
for transport in $transports; do
  bench progress --rounds 1 --effort 0.02 --transport $transport --json
  says "\"bench\":\"progress\",\"transport\":\"$transport\""
  for way in basic interrupt "one thread" "two threads"; do says "\"way\":\"$way\""; done
  for size in 4 4096; do says "\"size\":$size"; done
  says '"to_basic":'
  says '"paper_to_basic":'
  case $transport in
    qdma) says '"by":"read","ends":"two queues"' ;;
    *) says '"by":"frames"' ;;
  esac
done
