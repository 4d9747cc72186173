# SPDX-License-Identifier: Apache-2.0
# Windows by single requests, and by send_many and recv_many.
. "$(dirname "$0")/common.sh"

bench rate --size 8,1k --effort 0.02 --batches
says "64 in flight by one send_many and one recv_many"
bench bandwidth --size 64k --window 4 --effort 0.02 --batches --json
says '"batches":true'
bench rate --size 8 --effort 0.02 --json
says '"batches":false'
