# SPDX-License-Identifier: Apache-2.0
# Users' programs compile with a compiler, a language standard and a standard library, without a warning; and what a
# compilation lacks is said in one line.    users.sh COMPILER STANDARD LIBRARY SOURCE
compiler=$1 standard=$2 library=$3 source=$4
flags=(-std="$standard" -I"$source/include" -Wall -Wextra -Wpedantic -Werror)
fail() { printf '%s\n' "$@"; exit 1; }
# says TEXT [FLAG..]: that is the first error.
says() {
  ! said=$("$compiler" "${flags[@]}" "${@:2}" -fsyntax-only first.cpp 2>&1) || fail "it compiles with ${*:2}"
  grep -m1 "error:" <<<"$said" | grep -q -- "$1" || fail "the first error does not say \"$1\":" "$said"
}

sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$source/README.md" >first.cpp
if [ "$library" = libc++ ]; then
  flags+=(-stdlib=libc++)
  release=$(echo '#include <version>' | "$compiler" "${flags[@]}" -dM -E -x c++ - 2>&1 | sed -n 's/.* _LIBCPP_VERSION //p')
  [ -n "$release" ] || { echo "skipped: $compiler has no libc++"; exit 77; }
  if ((release < 200000)); then
    says "weft needs std::stop_token.*-fexperimental-library"
    flags+=(-fexperimental-library)
  fi
fi
if [ "$library" = libstdc++ ]; then
  says "without -fno-exceptions" -fno-exceptions
  says "weft needs C++20" -std=c++17
fi

# With libc++ the names in the library are others: a program with libc++ would link to a weft with libstdc++, and crash.
"$compiler" "${flags[@]}" -S first.cpp -o first.s
found=$(grep -c "with_libcxx.*from_environment" first.s) || true
if [ "$library" = libc++ ]; then ((found > 0)); else ((found == 0)); fi || fail "options has the wrong name for $library"
