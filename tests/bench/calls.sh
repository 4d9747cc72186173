# SPDX-License-Identifier: Apache-2.0
# Calls beside messages.
. "$(dirname "$0")/common.sh"

bench calls --rounds 1 --size 8,64K
says coroutine
says "inline, many"
bench calls --rounds 1 --size 8 --transport tcp --json
says '"bench":"calls"'
says '"by":"inline"'
says '"by":"typed"'
