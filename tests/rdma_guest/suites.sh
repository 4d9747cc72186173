#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suites.sh BIN [ON]: runs the verbs part of every suite, on a machine that has an RDMA device, with the programs in BIN. All
# of them, also after a failure; ends with 1 if one failed. ON: also those that take minutes in an emulated machine.
set -uo pipefail
bin=$1 bad=0
export WEFT_TEST_TRANSPORT=verbs

# suite COMMAND...: a test's program, or a script.
suite() {
  local start=$SECONDS code=0
  "$@" || code=$?
  echo "== ${*##*/} over verbs: status $code ($((SECONDS - start)) s)"
  ((code == 0 || code == 77)) || bad=1  # 77: a test of it cannot run here, and said so
}

suite "$bin/tests/test-rdma_guest"
suite "$bin/tests/test-conformance"
deaths='death: a job*,death: a process that leaves*'
if [[ ${2:-} == ON ]]; then deaths='death: *'; fi
suite "$bin/tests/test-multiprocess" "$deaths"
suite "$(dirname "$0")/jobs.sh" "$bin"
suite "$(dirname "$0")/bench.sh" "$bin"
exit "$bad"
