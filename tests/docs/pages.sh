# SPDX-License-Identifier: Apache-2.0
# Doxygen makes the API pages without a warning. Arguments: the folder of the sources.
command -v doxygen >/dev/null || { echo "skipped: no doxygen (packages/docs.txt)"; exit 77; }
work=$PWD
cd "$1"
{ cat docs/Doxyfile; echo "OUTPUT_DIRECTORY = $work"; } | doxygen -
for page in index classweft_1_1context classweft_1_1endpoint weft_8h; do
  [ -s "$work/html/$page.html" ] || { echo "missing: $page.html"; exit 1; }
done
