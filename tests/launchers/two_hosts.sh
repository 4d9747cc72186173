# SPDX-License-Identifier: Apache-2.0
# Two hosts, which are network namespaces here: mpirun starts two ranks on each, and they find each other.
. "$(dirname "$0")/common.sh"
command -v ip >/dev/null || skip "ip is not installed (iproute2)"
[ "$(id -u)" = 0 ] || skip "only root can make network namespaces"

one=weft-a-$$ two=weft-b-$$
clean() {
  ip netns del $one 2>/dev/null || true
  ip netns del $two 2>/dev/null || true
}
trap clean EXIT
ip netns add $one 2>/dev/null && ip netns add $two || skip "network namespaces are forbidden here"
ip link add veth-$$ netns $one type veth peer name veth-$$ netns $two ||
  skip "links between network namespaces are forbidden here"
address() { ip -n "$1" addr add "$2/24" dev veth-$$; ip -n "$1" link set veth-$$ up; ip -n "$1" link set lo up; }
address $one 10.77.0.1
address $two 10.77.0.2

# What ssh is to mpirun: enters a host, and is called by its name there.
cat >enter <<END
#!/bin/bash
case \$1 in 10.77.0.1) host=$one ;; *) host=$two ;; esac
shift
exec ip netns exec \$host unshare --uts bash -c "hostname \$host; \$*"
END
chmod +x enter

# hosts ARGUMENTS...: mpirun on the first of the two.
hosts() {
  timeout -s KILL 100 ip netns exec $one unshare --uts bash -c "hostname $one; exec \"\$@\"" hosts \
    mpirun.openmpi --mca plm_rsh_agent "$PWD/enter" --mca plm_rsh_no_tree_spawn 1 \
    --host 10.77.0.1:2,10.77.0.2:2 -x PATH "$@"
}

if weft-info | grep -q "transport: tcp"; then
  heat --steps 100 "$picture" alone.pgm
  hosts -n 4 heat --steps 100 "$picture" "$PWD/four.pgm"
  cmp alone.pgm four.pgm
  # Ranks are told why they cannot share memory with the other host, and do with their own.
  hosts -n 4 weft-info --why rank:3 >why.txt
  cat why.txt
  # Whose line it is shows in what it says: mpirun mixes what several ranks print.
  grep -q "shm .*tried in vain .*no Unix socket reaches it" why.txt
  grep -q "tcp .*chosen .*tcp, " why.txt
  grep -q "shm .*chosen" why.txt
else
  # The processes find each other over TCP, and learn that no transport takes their messages.
  hosts -n 4 hello >hello.txt 2>&1 && exit 1
  cat hello.txt
  grep -q "no memory can be shared, because no Unix socket reaches it" hello.txt
fi
