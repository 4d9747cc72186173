#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# vipl.sh BIN: the programs of tests/vipl over verbs: both forms of connecting at each reliability level between two
# processes; completions, errors, a peer that dies, and one that sends wrong messages.
set -euo pipefail
export WEFT_TRANSPORTS=self,verbs
timeout -s KILL 60 "$1/tests/vipl-pair" server "$$" &
server=$!
timeout -s KILL 60 "$1/tests/vipl-pair" client "$$"
wait "$server"
for program in events drops death hostile; do timeout -s KILL 60 "$1/tests/vipl-$program"; done
