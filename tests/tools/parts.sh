# SPDX-License-Identifier: Apache-2.0
# weft-info prints the parts of the build, and a transport that is not built in is refused by name.
fails_with() { said=$("${@:2}" 2>&1) && { echo "should fail: ${*:2}"; exit 1; }; grep -qE -- "$1" <<<"$said" || { echo "$said"; exit 1; }; }

weft-info --version | grep -q "^built with:"
built=$(weft-info --json)
for part in uring tbb tls verbs qdma pmix ofi probes; do
  grep -q "\"name\": \"$part\"" <<<"$built" || { echo "missing: $part"; exit 1; }
done

for transport in verbs qdma; do
  if weft-info --version | grep -q "^built with: .*$transport"; then
    WEFT_TRANSPORTS=self,$transport weft-info >/dev/null
  else
    fails_with "transport $transport is not built in; build weft with -DWEFT_WITH_${transport^^}=ON" \
      env "WEFT_TRANSPORTS=self,shm+$transport" weft-info
  fi
done
