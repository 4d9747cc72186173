# SPDX-License-Identifier: Apache-2.0
# A stream beside messages and a Unix socket.
. "$(dirname "$0")/common.sh"

bench stream --rounds 1 --size 8 65536
says "Unix socket"
for transport in shm tcp; do
  bench stream --rounds 1 --size 1000 --transport $transport --json
  says "\"bench\":\"stream\",\"transport\":\"$transport\""
  for by in messages stream "Unix socket"; do says "\"by\":\"$by\""; done
  says '"to_messages":'
done
