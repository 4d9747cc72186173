# SPDX-License-Identifier: Apache-2.0
# Each rank answers a scraper while it works, and what rank 0 has sent to rank 1 grows.
weft-run -n 2 metrics_server >ports.txt 2>errors.txt &
job=$!
trap 'kill $job 2>/dev/null || true' EXIT
until [[ $(grep -c port ports.txt) == 2 ]]; do kill -0 $job; done
port=$(awk '/^\[0\]/ { print $3; exit }' ports.txt)

# \param 1 the path; the whole response
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n' "$1" >&3
  cat <&3
  exec 3>&-
}
sent() { sed -n 's/^weft_peer_sent_messages_total{rank="0",lane="0",peer="1",transport="shm"} //p'; }

ask /metrics >page.txt
grep -q "^HTTP/1.1 200 OK" page.txt
grep -q "^Content-Type: application/openmetrics-text; version=1.0.0" page.txt
[[ $(tail -n 1 page.txt) == "# EOF" ]]
first=$(ask /metrics | sent)
until [[ $(ask /metrics | sent) -gt ${first:-0} ]]; do kill -0 $job; done
ask /nowhere | grep -q "^HTTP/1.1 404"

# The same as a file of each rank.
WEFT_METRICS=m.prom weft-run -n 2 pingpong >/dev/null
[[ $(tail -n 1 m.0.prom) == "# EOF" && $(tail -n 1 m.1.prom) == "# EOF" ]]

kill -TERM $job
wait $job || true
trap - EXIT
