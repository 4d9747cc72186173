# SPDX-License-Identifier: Apache-2.0
# Programs under valgrind, which runs one thread at a time: they end, memcheck finds nothing, and SIGTERM ends them.
fail() { printf '%s\n' "$@"; exit 1; }
skip() { echo "skipped: $1"; exit 77; }
command -v valgrind >/dev/null || skip "no valgrind"
command -v hello >/dev/null && command -v pingpong >/dev/null || skip "no samples"
! grep -q __[at]san_init "$(command -v hello)" || skip "a sanitizer does not work under valgrind"

said=$(timeout -s KILL 100 weft-run -n 2 valgrind --quiet --error-exitcode=9 "$(command -v hello)" 2>&1) ||
  fail "hello failed, or did not end, under valgrind:" "$said"
grep -q "hello from rank 1" <<<"$said" || fail "rank 1 is not heard:" "$said"

: >waits.txt
timeout -s KILL 100 valgrind --quiet --error-exitcode=9 "$(command -v pingpong)" --listen unix://weft-valgrind-$$ >waits.txt 2>&1 &
waiting=$!
tail -f --pid=$waiting waits.txt | grep -q -m 1 "waiting at"
kill -TERM $waiting
status=0; wait $waiting || status=$?
[ $status = $((128 + 15)) ] || fail "SIGTERM did not end it, status $status:" "$(cat waits.txt)"
