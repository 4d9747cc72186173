# SPDX-License-Identifier: Apache-2.0
# A server and a client on two hosts, which meet by both forms of connecting. They need one job key; a client with another
# one is rejected, and the server goes on.
skip() { echo "skipped: $*"; exit 77; }
. "$(dirname "$0")/../support/two_hosts.sh"
programs=$(dirname "$(command -v weft-run)")/tests
export WEFT_TRANSPORTS=self,tcp WEFT_JOB_KEY_FILE=$PWD/key
(umask 077; for key in key other_key; do head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >$key; done)

# on HOST PROGRAM ARGUMENTS...
on() { timeout --kill-after=5 60 ip netns exec "$1" "$programs/vipl-$2" "${@:3}"; }
# pair HOST ROLE OWN OTHER: the program there.
pair() { on "$1" pair "$2" "$$" "$3" "$4"; }

# The first form, where the server has the lower address; then it has the higher one.
pair $one server 10.77.0.1 10.77.0.2 &
server=$!
WEFT_JOB_KEY_FILE=$PWD/other_key on $two rejected "$$" 10.77.0.2 10.77.0.1
pair $two client 10.77.0.2 10.77.0.1
wait $server
pair $two server 10.77.0.2 10.77.0.1 &
server=$!
pair $one client 10.77.0.1 10.77.0.2
wait $server
