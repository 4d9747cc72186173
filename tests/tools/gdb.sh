# SPDX-License-Identifier: Apache-2.0
# The script for gdb shows what a stopped process waits for, and who awaits it; and the same of a core file, also without
# the symbols of the program.
command -v gdb >/dev/null || { echo "gdb is not installed"; exit 77; }
bin=$(dirname "$(command -v weft-run)")
script=$bin/../share/weft/gdb/weft.py
weft-run -n 2 "$bin/tests/stuck" >out.txt 2>&1 &
job=$!
trap 'kill $job 2>/dev/null || true' EXIT
until (($(grep -c '\] stuck$' out.txt) == 2)); do kill -0 $job; sleep 0.05; done
rank=$(cut -d' ' -f1 "/proc/$job/task/$job/children")
debug() { timeout 100 gdb -nx -batch "$@" -x "$script" -ex 'weft contexts' -ex 'weft operations' >gdb.txt 2>&1 || true; }
says() {
  grep -qE -- "$1" gdb.txt || { cat gdb.txt; echo "missing: $1"; exit 1; }
}
# A process that is stopped answers no request, and gdb needs none.
kill -STOP "$rank"
debug -p "$rank"
grep -q "ptrace: Operation not permitted" gdb.txt && { echo "this user may not debug processes here"; exit 77; }
says '^rank 0, lane 0, weft .*: pending operations: 4'
says 'rank 1: open'
says 'receive from rank 1, tag 7: no message has come'
says "send to rank 1, tag 8: .* of 1048576 bytes have left, waits for the receiver's answer"
says 'call of handler 3 at rank 1: no reply has come'
says 'awaited by .*disseminate, barrier.cpp:'
says '\.\.\. a scope '
says '\.\.\. .*wait_as_first, stuck.cpp:'
says 'started by .*awaited_task'

gdb -nx -batch -p "$rank" -ex 'gcore core' >gcore.txt 2>&1
kill $job
strip -o stripped "$bin/tests/stuck"
debug "$bin/tests/stuck" core
says 'receive from rank 1, tag 7: no message has come'
says '\.\.\. .*wait_as_first, stuck.cpp:'
debug stripped core
says 'receive from rank 1, tag 7: no message has come'
says 'awaited by code at 0x.*, of a program without symbols'
rm core
