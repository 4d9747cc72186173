# SPDX-License-Identifier: Apache-2.0
# The descriptions of the papers' experiments (bench/papers/experiments): weft-report can read them, their ids are unique and
# begin with their paper's, and each command is one of weft-bench.
. "$(dirname "$0")/common.sh"
papers=$(dirname "$0")/../../bench/papers/experiments

report --papers "$papers" --list
for paper in via2sisci chemnitz rdma_channel elan4 shiba; do says "$paper/$paper-"; done

twice=$(sed -n 's/^      "id": "\([^"]*\)".*/\1/p' "$papers"/*.json | sort | uniq -d)
[ -z "$twice" ] || { echo "ids that are there twice: $twice"; exit 1; }

known=$(weft-bench --help)
commands=$(sed -n 's/^ *"run": \["weft-bench", "\([^"]*\)".*/\1/p' "$papers"/*.json | sort -u)
[ -n "$commands" ] || { echo "no command was found"; exit 1; }
for command in $commands; do
  grep -q "^  $command " <<<"$known" && continue
  case $command in
    ladder | vipl) echo "this build leaves $command out" ;;
    *) echo "weft-bench has no command $command"; exit 1 ;;
  esac
done
