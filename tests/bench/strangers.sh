# SPDX-License-Identifier: Apache-2.0
# The cost of strangers.
. "$(dirname "$0")/common.sh"

bench strangers --rounds 1 --effort 0.1 --json
says '"bench":"strangers"'
says '"connections":'
says '"ratio":'
! grep -q '"connections":0' <<<"$said"
