# SPDX-License-Identifier: Apache-2.0
# The resources that many connections hold.
. "$(dirname "$0")/common.sh"

bench connections --connections 20 --json
for state in idle active gone; do says "\"state\":\"$state\""; done
