# SPDX-License-Identifier: Apache-2.0
# The descriptions of the papers' experiments (bench/papers): weft-bench report can read them, and their ids are unique
# and begin with their paper's.
. "$(dirname "$0")/common.sh"
papers=$(dirname "$0")/../../bench/papers

bench report --papers "$papers" --list
for paper in via2sisci chemnitz rdma_channel elan4 shiba; do says "$paper/$paper-"; done

twice=$(sed -n 's/^      "id": "\([^"]*\)".*/\1/p' "$papers"/*.json | sort | uniq -d)
[ -z "$twice" ] || { echo "ids that are there twice: $twice"; exit 1; }
