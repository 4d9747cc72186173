# SPDX-License-Identifier: Apache-2.0
# The cost of each further transport for shared memory.
. "$(dirname "$0")/common.sh"

bench tax --rounds 1 --effort 0.02
says "shm+verbs+tcp"
bench tax --rounds 1 --effort 0.02 --json
says '"bench":"tax"'
says '"cost":'
