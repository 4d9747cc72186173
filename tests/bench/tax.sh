# SPDX-License-Identifier: Apache-2.0
# What every transport costs shared memory.
. "$(dirname "$0")/common.sh"

bench tax --rounds 2 --effort 0.1
says "shm+tcp"
bench tax --rounds 2 --effort 0.1 --json
says '"bench":"tax"'
says '"cost":'
