# SPDX-License-Identifier: Apache-2.0
# The orders of polling transports, and the read policies of rings.
. "$(dirname "$0")/common.sh"
command -v ip >/dev/null || skip "ip is not installed (iproute2)"
unshare --net true 2>/dev/null || skip "network namespaces are forbidden here"

bench policy --rounds 1 --milliseconds 5 --json
for policy in order adaptive toggle single contiguous post immediate; do says "\"policy\":\"$policy\""; done
for scenario in "both busy" "shm hot, tcp quiet" "tcp hot, shm quiet" "many senders" \
  "long, both busy" "long, tcp quiet" "long, shm quiet" "long, many senders"; do
  says "\"scenario\":\"$scenario\""
done
says '"quiet_half_rtt_us":'

bench policy --broadcast --rounds 1 --json
for policy in order adaptive toggle; do says "\"scenario\":\"broadcast\",\"policy\":\"$policy\""; done
