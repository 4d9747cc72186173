# SPDX-License-Identifier: Apache-2.0
# The cost of bad clients.
. "$(dirname "$0")/common.sh"

bench bad-clients --rounds 1 --effort 0.1 --json
says '"bench":"bad-clients"'
says '"connections":'
says '"ratio":'
! grep -q '"connections":0' <<<"$said"
