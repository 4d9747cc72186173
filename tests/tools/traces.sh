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

if weft-run -n 2 --trace /nonexistent/all.json hello 2>errors.txt; then exit 1; fi
grep -q "the trace /nonexistent/all.json" errors.txt
rm -f all.json errors.txt
