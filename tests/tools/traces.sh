# SPDX-License-Identifier: Apache-2.0
# weft-run --trace: one file of all ranks, and what is said of ranks that left none.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
weft-run -n 3 --trace all.json hello >/dev/null 2>errors.txt
[[ ! -s errors.txt ]] || { cat errors.txt; exit 1; }
[[ $(ls) == $'all.json\nerrors.txt' ]] || { ls; exit 1; }  # no part is left
python3 - <<'END'
import json
trace = json.load(open("all.json"))
events = trace["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
assert sorted(names.values()) == ["rank 0", "rank 1", "rank 2"], names
assert all(e["pid"] in names for e in events)
order = {names[e["pid"]]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
assert order == {"rank 0": 0, "rank 1": 1, "rank 2": 2}, order
sent = [e for e in events if e["name"] == "sent"]
received = [e for e in events if e["name"] == "received"]
assert sent and received
# One clock: nothing is received before the first message was sent.
assert min(e["ts"] for e in received) >= min(e["ts"] for e in sent)
assert set(trace["otherData"]["overwritten_events"]) == set(order)
END

# Each lane has a part of its own, and parts of a former job are no part of this one.
echo rubbish >all.1.json
WEFT_LANES=2 weft-run -n 2 --trace all.json hello >/dev/null
[[ $(ls) == $'all.json\nerrors.txt' ]] || { ls; exit 1; }
python3 -c 'import json; json.load(open("all.json"))'

# A rank without a context has none, and a status stays what it was.
set +e
weft-run -n 2 --trace all.json sh -c 'exit 3' 2>errors.txt
status=$?
set -e
[[ $status == 3 ]]
grep -q "weft-run: rank 1 left no trace" errors.txt
python3 -c 'import json; assert json.load(open("all.json"))["traceEvents"] == []'

# Ranks that no launcher of weft has started, on two hosts: here rank 1 has another clock, five seconds ahead.
port=$((20000 + $$ % 10000))
export WEFT_JOB_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
for rank in 1 0; do
  WEFT_RANK=$rank WEFT_SIZE=2 WEFT_ROOT=localhost:$port WEFT_TRACE=part.json pingpong --rounds 20 >/dev/null &
done
wait
unset WEFT_JOB_KEY
python3 - <<'END'
import re
lines = open("part.1.json").read()
lines = re.sub(r'"clock":"[^"]*"', '"clock":"another"', lines)
open("part.1.json", "w").write(re.sub(r'"ts":([0-9.]+)', lambda m: '"ts":%.3f' % (float(m[1]) + 5e6), lines))
END
weft-info --merge-traces all.json part.*.json errors.txt >said.txt
cat said.txt
grep -q "errors.txt is no trace of a rank" said.txt
grep -q "the host of rank 1: -.* µs, by messages" said.txt
grep -q "all.json: 2 ranks" said.txt
python3 - <<'END'
import json
trace = json.load(open("all.json"))
error = trace["otherData"]["clocks"]["rank 1"]["error_us"]
events = trace["traceEvents"]
for sender in (0, 1):
    sent = sorted(e["ts"] for e in events if e["name"] == "posted" and e["pid"] == sender + 1 and e["args"]["bytes"] == 8)
    came = sorted(e["ts"] for e in events if e["name"] == "received" and e["pid"] != sender + 1 and e["args"]["bytes"] == 8)
    assert len(sent) >= 20 and len(came) == len(sent), (len(sent), len(came))
    # As far as the clocks are known, nothing is received before it is sent.
    assert all(c >= s - 2 * error for s, c in zip(sent, came))
assert abs(trace["otherData"]["clocks"]["rank 1"]["added_us"] + 5e6) <= error
END
if weft-info --merge-traces all.json errors.txt said.txt 2>refused.txt; then exit 1; fi
grep -q "none of these files is the trace of a rank" refused.txt
rm part.*.json said.txt refused.txt

if weft-run -n 2 --trace /nonexistent/all.json hello 2>errors.txt; then exit 1; fi
grep -q "the trace /nonexistent/all.json" errors.txt
rm -f all.json errors.txt
