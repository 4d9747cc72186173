# SPDX-License-Identifier: Apache-2.0
# A page of kept results, without a measurement, and a picture of the same lines; then both in a real browser, on a
# phone's width: it reports nothing, no text covers another or leaves its picture, and nothing makes the page wider.
. "$(dirname "$0")/common.sh"
here=$(dirname "$0")

rm -rf papers page runs ran short quick failed hung busy
mkdir -p papers page/raw
cp "$here/report/example.json" papers/
cp "$here"/report/example.*.json* page/raw/
cp "$here/report/machine.json" page/raw/

report --papers papers --list
says "example/example-ways"
report --papers papers --from page
says "page/report.html"
report plot page/raw/example.turns.jsonl -o page/plot.svg
says "plot.svg: half a round trip over message size, 8 series"
! weft-report plot page/raw/example.turns.jsonl --y halfrtt 2> wrong || exit 1
grep -q 'no line has halfrtt as a number; the keys with numbers are: half_rtt_us, ' wrong
! weft-report --papers papers --only exmaple 2> wrong || exit 1
grep -q 'there is no experiment exmaple; there are: example' wrong

# A command that does not exist is a note in the page.
report --papers papers --only example/no-command --out failed --busy
grep -q 'cannot start weft-no-such-program' failed/report.html
report --papers papers --only example/no-command --out failed --keep --busy

# A busy machine is refused, with the cause and the cure; what is measured all the same says so.
spinners=()
for _ in $(seq "$(nproc)"); do sh -c 'while :; do :; done' & spinners+=($!); done
! weft-report --papers papers --only example/no-command --out busy 2> wrong || { kill "${spinners[@]}"; exit 1; }
report --papers papers --only example/no-command --out busy --busy
kill "${spinners[@]}"
grep -q 'the machine is busy: other processes use .* of .* cores, most of it .*--busy' wrong
grep -q 'The machine was busy when the measurements began' busy/report.html

# A claim whose spreads overlap is decided by further runs, five of them; one that each run decides takes two.
mkdir -p runs
cp "$here/report/runs.json" runs/
report --papers runs --out ran --busy
grep -q '"runs": 2' ran/raw/runs.clear.run.json
grep -q '"runs": 5' ran/raw/runs.close.run.json
grep -q '"here": "1.8 against 2 µs, 5 runs"' ran/verdicts.json
[ "$(grep -o '"verdict": "[^"]*"' ran/verdicts.json | paste -sd ' ')" = '"verdict": "fails" "verdict": "holds"' ]
grep -q '"cause": "weft"' ran/verdicts.json
# Without time for that it stays undecided, and a quick report runs once.
report --papers runs --only runs/close --out short --busy --time-limit 0
grep -q '"verdict": "undecided"' short/verdicts.json
grep -q '1 is undecided' short/report.html
report --papers runs --only runs/clear --out quick --busy --quick
grep -q '"runs": 1' quick/raw/runs.clear.run.json

# A misspelt key is refused, with its place.
mkdir -p misspelt
sed 's/"no_claim": "The paper/"no_clam": "The paper/' papers/example.json > misspelt/example.json
! weft-report --papers misspelt --list 2> wrong || exit 1
grep -q 'misspelt/example.json: experiments.1. (example-ways): there can be no key "no_clam"; is it "no_claim"?' wrong

# A guest that hangs is ended, and the page says so, also when it is drawn again.
if ! compgen -G '/dev/infiniband/uverbs*' > /dev/null; then
  mkdir -p guest
  sed 's/"weft-no-such-program"\],/&  "guest": true, "timeout_seconds": 0,/' papers/example.json > guest/example.json
  echo 'exec sleep 100' > hanging.sh
  report --papers guest --only example/no-command --guest hanging.sh --guest-seconds 0.1 --out hung --busy
  report --papers guest --only example/no-command --from hung
  grep -q 'Not measured: .*: the guest did not answer within 0.1 s' hung/report.html
fi

command -v chromium > /dev/null || skip "the browser's part: there is no chromium (packages/long.txt)"
# The page tells a frame of a phone's width what it looks like there: a window cannot be as narrow.
{
  sed 's#</body>.*##' page/report.html
  echo "<script>$(cat "$here/report/inspect.js")</script></body></html>"
} > page/inspected.html
cat > page/frame.html << 'END'
<!DOCTYPE html><html><body><iframe src="inspected.html" width="390" height="800"></iframe><script>
addEventListener("message", (e) => document.body.setAttribute("data-found", e.data));
</script></body></html>
END
# Root has no sandbox. Its own folder: another browser of this user is left alone.
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
timeout -s KILL 60 chromium --headless=new --no-sandbox --disable-gpu --no-first-run --user-data-dir="$profile" \
  --window-size=800,900 --virtual-time-budget=3000 --enable-logging=stderr --dump-dom \
  "file://$PWD/page/frame.html" > page/dom 2> page/log || { cat page/log; exit 1; }
! grep -a CONSOLE page/log || exit 1
found=$(grep -o 'data-found="[^"]*"' page/dom) || { cat page/log; echo "the page said nothing"; exit 1; }
echo "$found"
# On paper: the introduction with the contents, and a page for each of five experiments.
timeout -s KILL 60 chromium --headless=new --no-sandbox --disable-gpu --no-first-run --user-data-dir="$profile" \
  --print-to-pdf="$PWD/page/report.pdf" "file://$PWD/page/report.html" > page/log 2>&1 || { cat page/log; exit 1; }
pages=$(grep -a -o '/Type /Page\b' page/report.pdf | wc -l)
[ "$pages" = 6 ] || { echo "$pages pages on paper"; exit 1; }
# Four pictures with all their series, and no fault.
[ "$found" = 'data-found="charts 4, series 15 of 15, faults: "' ]
