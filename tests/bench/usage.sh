# SPDX-License-Identifier: Apache-2.0
# Command lines that weft-bench does not understand.
. "$(dirname "$0")/common.sh"

# refuses TEXT ARGUMENTS...: it does not run, and prints that text.
refuses() {
  local status=0
  said=$(weft-bench "${@:2}" 2>&1) || status=$?
  echo "$said"
  [ "$status" -eq 2 ] || { echo "status $status of weft-bench ${*:2}"; exit 1; }
  says "$1"
}

refuses "there is no command barier; there are: latency, rate, " barier --ranks 2
says ", barrier, "
refuses "weft-bench needs a command; there are: latency, rate, "
refuses "weft-bench needs a command; there are: " --json
refuses "--nope" latency --nope
refuses "--ranks" barrier --ranks 1
