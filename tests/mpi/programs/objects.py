# SPDX-License-Identifier: Apache-2.0
"""MPI from Python: objects and arrays, messages and collective calls, each compared with what it must be."""
import array
import sys
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
wrong = 0


def check(what, expected, got):
    global wrong
    if expected != got:
        wrong += 1
        print(f"rank {rank}: {what}: expected {expected!r:.80}, got {got!r:.80}", file=sys.stderr)


def thing(r, n):
    return {"rank": r, "list": list(range(n)), "text": "x" * n, ("a", r): [None, 1.5, b"\0\1"]}


right, left = (rank + 1) % size, (rank - 1) % size
for n in (0, 1, 100, 5000, 40000):
    check("sendrecv", thing(left, n), world.sendrecv(thing(rank, n), dest=right, source=left))
    request = world.isend(thing(rank, n), dest=right, tag=n)
    check("recv", thing(left, n), world.recv(source=left, tag=n))
    request.wait()
    check("bcast", thing(size - 1, n), world.bcast(thing(rank, n) if rank == size - 1 else None, root=size - 1))
check("allgather", [thing(r, 50) for r in range(size)], world.allgather(thing(rank, 50)))
check("alltoall", [(r, rank) for r in range(size)], world.alltoall([(rank, r) for r in range(size)]))
check("scatter", rank * 11, world.scatter([r * 11 for r in range(size)] if rank == 0 else None))
check("allreduce of lists", sum(([r] for r in range(size)), []), world.allreduce([rank]))

for n in (1, 1000, 100000):
    mine = array.array("d", (rank + i / 8 for i in range(n)))
    total = array.array("d", bytes(8 * n))
    world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE])
    check("Allreduce", array.array("d", (size * (size - 1) / 2 + size * i / 8 for i in range(n))), total)

message = None
if rank == 0:
    for _ in range(size - 1):
        status = MPI.Status()
        message = world.mprobe(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        check("mprobe", thing(status.source, status.tag), message.recv())
else:
    world.send(thing(rank, rank * 100), dest=0, tag=rank * 100)

half = world.Split(rank % 2, rank)
check("split", sum(r for r in range(rank % 2, size, 2)), half.allreduce(rank))
wrong = world.allreduce(wrong)
if rank == 0:
    print(f"{size} ranks, {wrong} wrong")
sys.exit(1 if wrong else 0)
