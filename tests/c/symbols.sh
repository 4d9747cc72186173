# SPDX-License-Identifier: Apache-2.0
# libweft-c.so exports the functions that weft.h declares, with a version, and nothing else.
. "$(dirname "$0")/common.sh"
library=$(ldd "$programs/c-calls" | awk '/libweft-c/ { print $3 }')
shown=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }')
declared=$(grep -o 'WEFT_API [^(]*(' -h "$SAMPLES/../include/weft/c/"*.h | grep -o 'weft_[a-z_]*(' | tr -d '(' | sort -u)
[[ $(grep -cv '^weft_[a-z_]*@@WEFT_[1-7]$' <<<"$shown") == 0 ]]
# Only the functions added later require the later version, so that older libraries are refused by name.
[[ $(grep '@@WEFT_2$' <<<"$shown") == "weft_invalidate_registrations@@WEFT_2" ]]
[[ $(grep -c '@@WEFT_3$' <<<"$shown") == 8 ]]
[[ $(grep '@@WEFT_4$' <<<"$shown") == "weft_region_open_as@@WEFT_4" ]]
[[ $(grep -c '@@WEFT_5$' <<<"$shown") == 27 ]]
[[ $(grep -c '@@WEFT_6$' <<<"$shown") == 11 ]]
[[ $(grep -c '@@WEFT_7$' <<<"$shown") == 3 ]]
diff <(sed 's/@@.*//' <<<"$shown" | sort) <(echo "$declared")
