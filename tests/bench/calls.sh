# SPDX-License-Identifier: Apache-2.0
# Calls beside messages.
. "$(dirname "$0")/common.sh"

bench calls --rounds 1 --size 8,64K --effort 0.2
says coroutine
says "inline, many"
bench calls --rounds 1 --size 8 --transport tcp --effort 0.1 --json
says '"bench":"calls"'
says '"by":"inline"'
says '"by":"typed"'

# Beside other libraries: those that this build has.
bench calls --peers --rounds 1 --size 8 --outstanding 8 --effort 0.1 --json
says '"by":"inline, many"'
says '"by":"Asio, many"'
says '"to_inline_over_shm"'
! command -v weft-peer-calls-grpc >/dev/null || says '"by":"gRPC"'
! command -v weft-peer-calls-capnp >/dev/null || says "\"by\":\"Cap'n Proto\""
