# SPDX-License-Identifier: Apache-2.0
# Two hosts, which are network namespaces here: mpirun starts two ranks on each, and they find each other.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/two_hosts.sh"

# hosts ARGUMENTS...: mpirun on the first of the two.
hosts() { on_first mpirun.openmpi "${hosts_for_mpirun[@]}" "$@"; }

if weft-info | grep -q "transport: tcp"; then
  heat --steps 100 "$picture" alone.pgm
  hosts -n 4 heat --steps 100 "$picture" "$PWD/four.pgm"
  cmp alone.pgm four.pgm
  # Ranks are told why they cannot share memory with the other host; they share memory with ranks of their own host.
  hosts -n 4 weft-info --why rank:3 >why.txt
  cat why.txt
  # The text of a line shows which rank printed it: mpirun mixes the output of several ranks.
  grep -q "shm .*failed .*no Unix socket reaches it" why.txt
  grep -q "tcp .*chosen .*tcp, " why.txt
  # The key that the launcher spreads is enough to encrypt what crosses between them.
  weft-info --version | grep -q "^built with: .*tls" && grep -q "tcp .*chosen .*encrypted" why.txt
  grep -q "shm .*chosen" why.txt
  # The launcher tells where each rank runs: collectives go by levels.
  hosts -n 4 weft-info >info.txt
  [ "$(grep -c "of 4, 2 on this host, as on every host" info.txt)" = 4 ] || { cat info.txt; exit 1; }
else
  # The processes find each other over TCP, and learn that no transport takes their messages.
  hosts -n 4 hello >hello.txt 2>&1 && exit 1
  cat hello.txt
  grep -q "no memory can be shared, because no Unix socket reaches it" hello.txt
fi
