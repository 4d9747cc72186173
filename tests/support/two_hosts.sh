# SPDX-License-Identifier: Apache-2.0
# Two hosts, which are network namespaces here, with a wire between them: 10.77.0.1 and 10.77.0.2. Sourced; needs a function
# `skip`. They are gone when the script ends.
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

# The replacement of ssh for mpirun: enters a host, which is given by its name.
cat >enter <<END
#!/bin/bash
case \$1 in 10.77.0.1) host=$one ;; *) host=$two ;; esac
shift
exec ip netns exec \$host unshare --uts bash -c "hostname \$host; \$*"
END
chmod +x enter

# on_first COMMAND...: on the first of the two.
on_first() {
  timeout -s KILL 100 ip netns exec $one unshare --uts bash -c "hostname $one; exec \"\$@\"" on_first "$@"
}
# mpirun's arguments for the two hosts, with two ranks on each. All stay in one session: these hosts share their cores,
# and the kernel may keep the ranks of one session waiting for those of another (docs/reliability.md, "Known gaps").
# A file: PRRTE of Open MPI 5.0.7 forgets the second of two addresses after --host.
printf '10.77.0.1 slots=2\n10.77.0.2 slots=2\n' >hosts
hosts_for_mpirun=(--leave-session-attached --hostfile "$PWD/hosts" -x PATH)
if mpirun.openmpi --version | grep -q "^mpirun.*) 4"; then
  hosts_for_mpirun+=(--mca plm_rsh_agent "$PWD/enter" --mca plm_rsh_no_tree_spawn 1)
else
  hosts_for_mpirun+=(--prtemca plm_ssh_agent "$PWD/enter" --prtemca plm_ssh_no_tree_spawn 1)
fi
