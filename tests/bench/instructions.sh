# SPDX-License-Identifier: Apache-2.0
# The instructions of each step of a small message, under their ceilings: they do not depend on the
# machine's load.
. "$(dirname "$0")/common.sh"

bench instructions --strict
for loop in "window, send" "window, receive" "window, send_many" "window, recv_many" \
  "window, send_value" "window, recv_value" \
  "single, receive and send" "weft.h window, send"; do
  says "$loop"
done
bench instructions --loop send --files
says "src/proto/peer/small_message.cpp"
bench instructions --loop receive --json
says '"bench":"instructions"'
