# SPDX-License-Identifier: Apache-2.0
# weft-info prints the settings, and of the variables for experiments those that are set, or all.
says() { grep -qE -- "$1" <<<"$said" || { echo "missing: $1"; echo "$said"; exit 1; }; }
silent() { ! grep -qE -- "$1" <<<"$said" || { echo "not wanted: $1"; echo "$said"; exit 1; }; }
unset WEFT_POLL_POLICY WEFT_CREDIT

said=$(weft-info)
says "^  WEFT_PROGRESS "
silent "WEFT_POLL_POLICY"
says "weft-info --experiments shows all"

said=$(WEFT_POLL_POLICY=toggle WEFT_POLICY=toggle weft-info)
says "^  WEFT_POLL_POLICY +toggle"
says "set here; otherwise order"
silent "WEFT_CREDIT"
says "WEFT_POLICY +is set here, and means nothing to weft"

said=$(weft-info --experiments)
says "^  WEFT_PROGRESS "
says "^  WEFT_POLL_POLICY +order"
says "^  WEFT_CREDIT +auto"

said=$(weft-info --json)
says '"experiments": \['
says '"name": "WEFT_CREDIT"'
