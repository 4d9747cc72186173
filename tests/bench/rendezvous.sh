# SPDX-License-Identifier: Apache-2.0
# Long messages to receives that wait, with and without a handshake.
. "$(dirname "$0")/common.sh"

bench rendezvous --rounds 1 --effort 0.02 --size 64K
says "receiver first"
bench rendezvous --transport tcp --rounds 1 --effort 0.02 --size 256K --json
says '"bench":"rendezvous"'
says '"way":"receiver first","first_us":'
