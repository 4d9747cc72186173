# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts; sourced.
skip() {
  echo "skipped: $*"
  exit 77
}

# shown PROGRAM ARGUMENTS...: a short run; its output is shown and kept in $said.
shown() {
  echo "+ $*"
  said=$(timeout -s KILL 140 "$@" 2>&1) || { echo "$said"; exit 1; }
  echo "$said"
}
bench() { shown weft-bench "$@"; }
report() { shown weft-report "$@"; }

# says TEXT: the last run printed it.
says() { grep -qF -- "$1" <<<"$said" || { echo "missing: $1"; exit 1; }; }

# needs_part NAME: skips where the build leaves it out.
needs_part() { weft-info --version | grep -q "^built with: .*\b$1\b" || skip "weft is built without $1"; }

[ "$(nproc)" -ge 2 ] || skip "a pair needs two cores"
