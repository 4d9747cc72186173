# SPDX-License-Identifier: Apache-2.0
# A service that is killed keeps what it has answered; clients wait for the next one, and a long value comes back whole.
service=unix://key-value-$$
serve() {
  : >server.txt
  key_value --serve "$service" --folder shelf >server.txt &
  server=$!
  trap 'kill -KILL $server 2>/dev/null || true' EXIT
  until grep -q "values at $service" server.txt; do
    kill -0 $server
    sleep 0.05
  done
}
ask() { key_value --at "$service" "$@"; }

rm -rf shelf
serve
ask put town Weimar
ask put town Jena
[ "$(ask get town)" = Jena ]
head -c 30000000 /dev/urandom >long.bin
ask put long <long.bin
ask get long | cmp - long.bin
ask | grep -qx "values 2, bytes 30000004, puts 3, calls 5"

kill -KILL $server
ask get town >late.txt & # tries until there is a service
late=$!
wait $server || true
touch shelf/.7 # a put that was not answered
serve
grep -q "^serving 2 values" server.txt
wait $late
[ "$(cat late.txt)" = Jena ]
ask get long | cmp - long.bin

# Errors tell their reason.
if ask get nothing 2>error.txt; then exit 1; fi
grep -q "^key_value: there is no value under nothing" error.txt
if ask put ../up 1 2>error.txt; then exit 1; fi
grep -q "^key_value: service at $service: .*: a key is the name of a file" error.txt
kill -INT $server
wait $server
trap - EXIT
