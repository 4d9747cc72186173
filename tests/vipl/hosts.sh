# SPDX-License-Identifier: Apache-2.0
# A server and a client on two hosts, which meet by both forms of connecting. They need one job key.
skip() { echo "skipped: $*"; exit 77; }
. "$(dirname "$0")/../support/two_hosts.sh"
programs=$(dirname "$(command -v weft-run)")/tests
export WEFT_TRANSPORTS=self,tcp WEFT_JOB_KEY_FILE=$PWD/key
(umask 077; head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >key)

# pair HOST ROLE OWN OTHER: the program there.
pair() { timeout --kill-after=5 60 ip netns exec "$1" "$programs/vipl-pair" "$2" "$$" "$3" "$4"; }

# The first form, where the server has the lower address; then it has the higher one.
pair $one server 10.77.0.1 10.77.0.2 &
server=$!
pair $two client 10.77.0.2 10.77.0.1
wait $server
pair $two server 10.77.0.2 10.77.0.1 &
server=$!
pair $one client 10.77.0.1 10.77.0.2
wait $server
