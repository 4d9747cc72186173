# SPDX-License-Identifier: Apache-2.0
programs=$(dirname "$(command -v weft-run)")/tests

# within_time SECONDS COMMAND...: prints the command, and ends it if it hangs: in good order first, so that weft-run
# can tell which ranks are left.
within_time() {
  local seconds=$1 way="${WEFT_TRANSPORTS:-default transports}, ${WEFT_PROGRESS:-default progress}: ${*:2}" code=0
  echo "$way"
  timeout --kill-after=10 "$seconds" "${@:2}" || code=$?
  ((code != 0)) || return 0
  echo "failed ($code): $way"
  return $code
}
