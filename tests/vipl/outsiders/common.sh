# SPDX-License-Identifier: Apache-2.0
# What the scripts here share: the library under the name that programs for VIA link, a copy of their sources, and tools.

# libvipl.so, for the linker and for the programs.
rm -rf lib
mkdir lib
ln -s "$VIPL" lib/libvipl.so
export LD_LIBRARY_PATH=$(dirname "$VIPL"):$(dirname "$VIPL")/../../../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# needs PROGRAM...: skips the test without one of them.
needs() {
  for program; do
    if ! command -v "$program" > /dev/null; then
      echo "there is no $program"
      exit 77
    fi
  done
}

# holder FILE FOLDER...: the first of the folders that has the file.
holder() {
  file=$1
  shift
  for folder; do
    if [ -e "$folder/$file" ]; then
      echo "$folder"
      return
    fi
  done
  echo "no $file in: $*" >&2
  return 1
}

# says FILE TEXT: fails, with the end of the file, if the text is not in it.
says() {
  if ! grep -q -e "$2" "$1"; then
    tail -n 40 "$1"
    echo "$1 does not say: $2"
    return 1
  fi
}
