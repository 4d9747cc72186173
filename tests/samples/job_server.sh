# SPDX-License-Identifier: Apache-2.0
# Clients get their answers, also two at once and one whose question meets the server's end; a silent one has to go.
listener=unix://job-server-$$
serve() {
  : >server.txt
  job_server --listen "$listener" "$@" >server.txt &
  server=$!
  trap 'kill -KILL $server 2>/dev/null || true' EXIT
  await "serving at $listener"
}
await() { # TEXT in the server's output
  until grep -q "$1" server.txt; do
    kill -0 $server
    sleep 0.05
  done
}
finish() { # the server ends well
  kill "-$1" $server
  wait $server
  trap - EXIT
  cat server.txt
  grep -qx closed server.txt
}

serve
job_server --connect "$listener" 91 97 1 | tee small.txt
diff small.txt - <<'END'
91 = 7 * 13
97 = 97
1 = 1
END
job_server --connect "$listener" 360 >first.txt &
first=$!
job_server --connect "$listener" 1001 | grep -qx "1001 = 7 \* 11 \* 13"
wait $first
grep -qx "360 = 2 \* 2 \* 2 \* 3 \* 3 \* 5" first.txt
job_server --connect "$listener" & # stays until the server ends
quiet_one=$!
job_server --connect "$listener" 10000004400000259 >last.txt &
last=$!
await "asks for 10000004400000259"
finish TERM
wait $last $quiet_one
grep -qx "10000004400000259 = 100000007 \* 100000037" last.txt

serve --patience 0.2
job_server --connect "$listener" # ends because the server has no patience
grep -q "goes: .*deadline" server.txt
finish INT

# Errors tell their reason.
if job_server --connect "$listener" --patience 1 3 2>error.txt; then exit 1; fi
grep -q "^job_server: .*nobody listens" error.txt
job_server --help | grep -q -- --patience
