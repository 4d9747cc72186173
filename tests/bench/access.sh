# SPDX-License-Identifier: Apache-2.0
# One-sided access, also to an owner that computes.
. "$(dirname "$0")/common.sh"

bench access --rounds 1 --size 8,64K
says computes
bench access --rounds 1 --size 64 --transport tcp --json
says '"bench":"access"'
says '"by":"get"'
says '"owner":"computes"'
