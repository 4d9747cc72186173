# SPDX-License-Identifier: Apache-2.0
# Threads with a lane each, and with one lane for all.
. "$(dirname "$0")/common.sh"

bench threads --threads 1,2 --window 8 --effort 0.1 --no-peers
says "two processes"
says "one process"
says "the same lane"
bench threads --threads 2 --window 8 --effort 0.1 --no-peers --no-pin
says "a lane"
bench threads --threads 1 --window 8 --effort 0.1 --no-peers --transport tcp --json
says '"bench":"threads"'
says '"between":"one process","threads":1,"way":"a lane"'
