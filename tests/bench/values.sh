# SPDX-License-Identifier: Apache-2.0
# Values beside the same bytes.
. "$(dirname "$0")/common.sh"

bench values --rounds 3 --effort 0.02
says "send_value(t, v)"
says "recv_value<vector>"
bench values --rounds 3 --effort 0.02 --json
says '"receive":"recv_value<word>"'
