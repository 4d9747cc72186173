# SPDX-License-Identifier: Apache-2.0
# Loans beside messages.
. "$(dirname "$0")/common.sh"

bench loans --rounds 3 --effort 0.02
says "loan, filled once"
says "1 MiB"
bench loans --rounds 3 --effort 0.02 --json
says '"way":"loan, first word anew"'
