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

# A program whose strings and containers have another layout than the library's would link to it, and crash: the names
# that it asks for are others, and say why.    is_named SETTINGS [FLAG..]
is_named() {
  "$compiler" "${flags[@]}" "${@:2}" -S first.cpp -o first.s
  for setting in with_libcxx with_GLIBCXX_DEBUG without_GLIBCXX_USE_CXX11_ABI; do
    found=$(grep -c "$setting.*from_environment" first.s) || true
    if [[ " $1 " == *" $setting "* ]]; then ((found > 0)); else ((found == 0)); fi ||
      fail "options has the wrong name, as for $setting, with $library ${*:2}"
  done
}
if [ "$library" = libc++ ]; then
  is_named with_libcxx
else
  is_named ""
  is_named with_GLIBCXX_DEBUG -D_GLIBCXX_DEBUG
  is_named without_GLIBCXX_USE_CXX11_ABI -D_GLIBCXX_USE_CXX11_ABI=0
  is_named "with_GLIBCXX_DEBUG without_GLIBCXX_USE_CXX11_ABI" -D_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=0
fi
