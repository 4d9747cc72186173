# SPDX-License-Identifier: Apache-2.0
# encrypted.sh WIRETAP: two hosts, and a third party that reads what crosses the wire between them. Needs weft-pipe and
# weft-info on PATH.
wiretap=$1
skip() {
  echo "skipped: $*"
  exit 77
}
. "$(dirname "$0")/../support/two_hosts.sh"
weft-info --version | grep -q "^built with: .*tls" || skip "weft is built without OpenSSL"
on_second() { timeout -s KILL 100 ip netns exec $two "$@"; }

word=a-word-that-is-easy-to-find
export WEFT_PEER_TIMEOUT=5
WEFT_JOB_KEY=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export WEFT_JOB_KEY
for n in $(seq 2000); do echo "$n $word"; done >said

# talk VARIABLES_OF_FIRST -- VARIABLES_OF_SECOND: the second sends to the first. What the tap says is in tapped.
talk() {
  local of_first=()
  while [ "$1" != -- ]; do of_first+=("$1"); shift; done
  shift
  mkfifo end
  timeout -s KILL 100 ip netns exec $one "$wiretap" $word <end >tapped &
  local tap=$!
  exec 9>end
  until grep -q ready tapped; do
    kill -0 $tap 2>/dev/null || skip "the network may not be read here"
    sleep 0.05
  done
  env "${of_first[@]}" timeout -s KILL 60 ip netns exec $one weft-pipe --listen tcp://10.77.0.1:7471 >heard 2>first.txt &
  local first=$!
  until ip netns exec $one grep -q ":1D2F .*:0000 0A " /proc/net/tcp /proc/net/tcp6; do
    kill -0 $first 2>/dev/null || { cat first.txt; exit 1; }
    sleep 0.05
  done
  status=0
  on_second env "$@" weft-pipe --connect tcp://10.77.0.1:7471 <said 2>second.txt || status=$?
  [ $status = 0 ] || kill $first 2>/dev/null || true
  wait $first || true
  exec 9>&-
  wait $tap
  rm end
  cat first.txt second.txt tapped
}

echo "--- auto"
talk -- WEFT_TCP_TLS=auto
cmp said heard
grep -q " not heard" tapped

echo "--- no"
talk WEFT_TCP_TLS=no -- WEFT_TCP_TLS=no
cmp said heard
grep -q "[0-9] heard" tapped  # or the tap would prove nothing

echo "--- they disagree"
talk WEFT_TCP_TLS=no -- WEFT_TCP_TLS=auto
[ $status != 0 ]
grep -q "this side has WEFT_TCP_TLS=auto, between hosts" second.txt
grep -q "WEFT_TCP_TLS=no" second.txt

echo "--- another key"
talk -- WEFT_JOB_KEY=00112233445566778899aabbccddeeff
[ $status != 0 ]
grep -q "this side's job key is not that job's" second.txt

# Certificates in place of the key.
if command -v openssl >/dev/null; then
  openssl req -x509 -newkey rsa:2048 -nodes -keyout authority.key -out authority.crt -subj /CN=authority 2>/dev/null
  issue() { # NAME ALTERNATIVE_NAMES
    openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
    echo "subjectAltName=$2" >"$1.txt"
    openssl x509 -req -in "$1.csr" -CA authority.crt -CAkey authority.key -out "$1.crt" -extfile "$1.txt" 2>/dev/null
    chmod 600 "$1.key"
  }
  by() { echo WEFT_JOB_KEY= WEFT_TLS_CERTIFICATE="$1.crt" WEFT_TLS_KEY="$1.key" WEFT_TLS_AUTHORITY=authority.crt; }
  issue service IP:10.77.0.1
  issue guest DNS:guest.example
  issue other IP:10.77.0.9
  echo "--- certificates"
  talk $(by service) -- $(by guest)
  [ $status = 0 ]
  cmp said heard
  grep -q " not heard" tapped
  echo "--- a certificate for another host"
  talk $(by other) -- $(by guest)
  [ $status != 0 ]
  grep -q "not for '10.77.0.1', but for IP:10.77.0.9" second.txt
  echo "--- a key where a certificate is wanted"
  talk $(by service) -- WEFT_TCP_TLS=auto
  [ $status != 0 ]
  grep -q "wants a certificate, and this side shows none" second.txt
fi

# Which connection is encrypted is told.
timeout -s KILL 60 ip netns exec $one weft-pipe --listen tcp://10.77.0.1:7471 >/dev/null 2>&1 &
first=$!
until ip netns exec $one grep -q ":1D2F .*:0000 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done
on_second weft-info --why tcp://10.77.0.1:7471 >why.txt 2>&1 || true
kill $first 2>/dev/null || true
wait $first || true
cat why.txt
grep -q "tcp .*chosen .*encrypted" why.txt
