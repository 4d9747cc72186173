# SPDX-License-Identifier: Apache-2.0
# libfabric's own tools find the provider, and play ping-pong over it.
. "$(dirname "$0")/common.sh"
command -v fi_info >/dev/null || skip "fi_info is not installed (libfabric-bin)"
FI_PROVIDER_PATH=${1:?the folder of the provider}
export FI_PROVIDER_PATH

fi_info -p weft | tee info.txt
grep -q "provider: weft" info.txt
grep -q "type: FI_EP_RDM" info.txt
# Unsupported endpoint types are refused.
for other in FI_EP_MSG FI_EP_DGRAM; do
  if fi_info -p weft -t $other >other.txt 2>&1; then cat other.txt; fail "$other was offered"; fi
done

port=$((20000 + $$ % 20000))
for transports in self,shm,tcp self,tcp; do
  export WEFT_TRANSPORTS=$transports
  for mode in msg tagged; do
    port=$((port + 1))
    timeout -s KILL 40 fi_pingpong -p weft -e rdm -m $mode -c -I 50 -B $port >server.txt 2>&1 &
    server=$!
    # The tool connects by its own socket as soon as the other side listens.
    for try in $(seq 100); do
      if grep -q "$(printf ':%04X .* 0A' $port)" /proc/net/tcp /proc/net/tcp6; then break; fi
      sleep 0.05
    done
    timeout -s KILL 40 fi_pingpong -p weft -e rdm -m $mode -c -I 50 -P $port 127.0.0.1 | tee client.txt
    wait $server || { cat server.txt; fail "the server of fi_pingpong -m $mode"; }
    grep -q "^1m " client.txt || fail "fi_pingpong -m $mode did not get to 1 MiB"
  done
done
