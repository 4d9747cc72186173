#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suites.sh BIN: runs the verbs part of every suite, on a machine that has an RDMA device, with the programs in BIN. All
# of them, also after a failure; ends with 1 if one failed.
set -uo pipefail
bin=$1 bad=0
export WEFT_TEST_TRANSPORT=verbs

# suite PROGRAM [ARGUMENTS..]: one of the tests' programs.
suite() {
  local start=$SECONDS code=0
  "$bin/tests/$1" "${@:2}" || code=$?
  echo "== $* over verbs: status $code ($((SECONDS - start)) s)"
  ((code == 0 || code == 77)) || bad=1  # 77: a test of it cannot run here, and said so
}


suite test-rdma_guest
suite test-conformance
suite test-multiprocess 'death: *'
exit "$bad"
