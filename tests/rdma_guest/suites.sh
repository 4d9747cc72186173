#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suites.sh BIN [ON]: runs the verbs part of every suite, on a machine that has an RDMA device, with the programs in BIN. All
# of them, also after a failure; ends with 1 if one failed. ON: also those that take minutes in an emulated machine.
set -uo pipefail
bin=$1 bad=0

# suite TRANSPORT COMMAND...: runs a test's program, or a script, with that transport.
suite() {
  local start=$SECONDS code=0
  WEFT_TEST_TRANSPORT=$1 "${@:2}" || code=$?
  echo "== ${2##*/} ${3+${3##*/} }over $1: status $code ($((SECONDS - start)) s)"
  ((code == 0 || code == 77)) || bad=1  # 77: a test of it cannot run here, and said so
}

# The tests that an emulated machine completes in time; ON: those that take minutes. Over verbs and tcp joined: the
# tests that this can change.
messages='conformance: messages of every size*,conformance: one message*,contexts: messages move*,streams: bytes in both*,access: what is put*'
deaths='death: a job*,death: a process that leaves*'
links='links: the network*'
collectives='collectives: when a rank dies*'
vipl='messages: all*,rdma: writes*,rdma: without*,descriptors: a message*,ends: *,one NIC: *'
if [[ ${2:-} == ON ]]; then
  vipl='*'
  messages='conformance: *,contexts: *,streams: *,access: *'
  deaths='death: *'
  links='links: the *'
  collectives='collectives: *'
  kills='kill: a rank dies at a random moment*,kill: the launcher*,stop: a rank is*,stop: ranks are stopped again*'
fi

suite verbs "$bin/tests/test-rdma_guest"
suite verbs "$bin/tests/test-conformance"
suite verbs+tcp "$bin/tests/test-conformance" "$messages"
suite verbs "$bin/tests/test-multiprocess" "$deaths"
suite verbs "$bin/tests/test-multiprocess" "$links"
suite verbs "$bin/tests/test-multiprocess" "$collectives"
if [[ ${2:-} == ON ]]; then
  suite verbs+tcp "$bin/tests/test-fault" "$kills"
  suite verbs+tcp "$bin/tests/test-multiprocess" "$deaths"
  suite verbs "$bin/tests/test-fault" "$kills"
fi
if [[ -e $bin/tests/test-vipl ]]; then  # not without VIPL
  suite verbs "$bin/tests/test-vipl" "$vipl"
  suite verbs "$(dirname "$0")/vipl.sh" "$bin"
fi
suite verbs "$(dirname "$0")/jobs.sh" "$bin" "${2:-}"
suite verbs "$(dirname "$0")/bench.sh" "$bin" "${2:-}"
exit "$bad"
