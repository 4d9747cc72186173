# SPDX-License-Identifier: Apache-2.0
# Checks a page of the guide: page.sh PAGE. The programs are in $PROGRAMS, the tools on PATH.
#
#   <!-- code/values.cpp -->          the ```cpp block below is that file, without its first line; the path is relative
#                                     to the page. `code/all.cpp [name]`: the lines between `// [name]` and `// [end]`
#   <!-- output -->                   each line `$ command` of the block below is typed, and prints the lines below it
#   <!-- output, in any order -->     the same; the ranks' lines may be mixed otherwise
#   <!-- output, other numbers -->    the same; numbers may be others
set -o pipefail
page=$1
folder=$(dirname "$page")
ln -sf "$PROGRAMS"/* .
rm -rf blocks && mkdir blocks

# Each marked block becomes blocks/N, and its marker blocks/N.marker.
awk '
  /^<!-- (code\/|guide\/code\/|output).* -->$/ { marker = $0; sub(/^<!-- /, "", marker); sub(/ -->$/, "", marker); next }
  /^```/ && open { open = 0; marker = ""; next }
  /^```/ && marker != "" { ++n; open = 1; print marker > ("blocks/" n ".marker"); printf "" > ("blocks/" n); next }
  /^```cpp/ { print FILENAME ":" FNR ": a listing without a marker" > "/dev/stderr"; bad = 1 }
  open { print > ("blocks/" n) }
  END { exit bad }' "$page"

# named_lines FILE NAME: the lines of a region, moved to the left as far as the first one.
named_lines() {
  awk -v begin="// [$2]" '
    index($0, begin) && !inside { inside = 1; first = 1; next }
    inside && index($0, "// [end]") { exit }
    inside { if (first) { match($0, /^ */); indent = RLENGTH; first = 0 } print substr($0, 1, indent) ~ /^ *$/ ? substr($0, indent + 1) : $0 }' "$1"
}

check_listing() { # BLOCK MARKER
  local file=${2%% *} region
  if [[ $2 == *\[* ]]; then
    region=${2##*\[} region=${region%\]}
    named_lines "$folder/$file" "$region" > expected
    [[ -s expected ]] || { echo "$page: $file has no lines between // [$region] and // [end]"; exit 1; }
  else
    tail -n +2 "$folder/$file" > expected
  fi
  diff -u --label "$file" --label "$page" expected "$1" || { echo "$page: copy the listing from $file"; exit 1; }
}

normal() { # MARKER
  case $1 in
    *'any order'*) sort ;;
    *'other numbers'*) sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g' ;;
    *) cat ;;
  esac
}

check_command() { # COMMAND EXPECTED MARKER
  local status=0
  timeout 60 bash -c "$1" > printed < /dev/null 2> complaints || status=$?
  [[ $status == 0 ]] || { echo "$page: $1 ends with status $status:"; cat printed complaints; exit 1; }
  diff -u --label "$page" --label "what it prints" <(normal "$3" < "$2") <(normal "$3" < printed) ||
    { echo "$page: $1 prints other lines"; cat complaints; exit 1; }
}

checked=0
for marker_file in blocks/*.marker; do
  block=${marker_file%.marker} marker=$(cat "$marker_file")
  case $marker in
    output*)
      command=
      while IFS= read -r line; do
        if [[ $line == '$ '* ]]; then
          [[ -z $command ]] || check_command "$command" wanted "$marker"
          command=${line#\$ }
          : > wanted
        else
          printf '%s\n' "$line" >> wanted
        fi
      done < "$block"
      [[ -n $command ]] || { echo "$page: a block of output without a command"; exit 1; }
      check_command "$command" wanted "$marker"
      ;;
    *) check_listing "$block" "$marker" ;;
  esac
  checked=$((checked + 1))
done
echo "$checked blocks"
[[ $checked -gt 0 ]]
