# SPDX-License-Identifier: Apache-2.0
# What strangers cost.
. "$(dirname "$0")/common.sh"

bench strangers --rounds 3 --effort 0.2 --json
says '"bench":"strangers"'
says '"connections":'
says '"ratio":'
! grep -q '"connections":0' <<<"$said"
