#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mutate.sh SCENARIO SOURCES OUT NAME...: copies the files that the lines "// NAME: FILE: old => new" of a scenario
# change, changed, to OUT. It is an error if the text of a change is not in its file any more.
set -euo pipefail
scenario=$1 sources=$2 out=$3
shift 3
rm -rf "$out"
mkdir -p "$out"
for name in "$@"; do
  while IFS= read -r line; do
    line=${line#"// $name: "}
    file=${line%%: *}
    change=${line#*: }
    old=${change%% => *}
    new=${change#* => }
    [[ $new != nothing ]] || new=
    from=$sources/$file
    [[ ! -f $out/$file ]] || from=$out/$file
    text=$(< "$from")
    [[ $text == *"$old"* ]] || { echo "$scenario: $name: '$old' is not in $file any more"; exit 1; }
    mkdir -p "$(dirname "$out/$file")"
    printf '%s\n' "${text//"$old"/"$new"}" > "$out/$file"
  done < <(grep "^// $name: " "$scenario" || { echo "no $name in $scenario" >&2; exit 1; })
done
