# SPDX-License-Identifier: Apache-2.0
# Barriers of jobs, compared with barriers made of sends and receives.
. "$(dirname "$0")/common.sh"

bench barrier --ranks 2,4 --rounds 3
says "2 processes over shm"
says "4 processes over shm"
bench barrier --ranks 3 --rounds 1 --transport tcp --json
says '"bench":"barrier"'
says '"way":"send and receive"'
says '"way":"group::barrier"'
says '"ranks":3'
