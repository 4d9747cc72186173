# SPDX-License-Identifier: Apache-2.0
# Debian packages: what they contain and depend on, and that each works in an empty folder with no other files of weft
# than it asks for.    packages.sh SOURCE FOLDER [BUILD]; with BUILD, cpack makes them first, from that build.
source=$1 debs=$2
for tool in dpkg-deb dpkg-shlibdeps pkg-config; do
  command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
fail() { echo "$*"; exit 1; }

if [ $# -gt 2 ]; then
  rm -rf "$debs"
  (cd "$3" && cpack -G DEB -B "$debs" -D CPACK_DEBIAN_COMPRESSION_TYPE=none)
fi
roots=$(mktemp -d)
trap 'rm -rf "$roots"' EXIT

# unpack ROOT PACKAGE...: those packages alone, below $roots/ROOT.
unpack() {
  for package in "${@:2}"; do dpkg-deb -x "$debs/$package"_*.deb "$roots/$1"; done
}
field() { dpkg-deb -f "$debs/$1"_*.deb "$2"; }
# needs PACKAGE OTHER [VERSION]
needs() { grep -qF ", $2 ${3-}" <<<", $(field "$1" Depends | sed 's/,/ ,/g') " || fail "$1 does not depend on $2: $(field "$1" Depends)"; }

packages=(libweft-c1 libvipl-weft1 libweft-dev weft-tools libweft-fi)
version=$(field libweft-c1 Version)
for package in "${packages[@]}"; do
  [ -e "$debs/$package"_*.deb ] || { [[ $package = libweft-fi || $package = libvipl-weft1 ]] && continue; fail "there is no $package"; }
  unpack "only-$package" $package
  cmp -s "$source/LICENSE" "$roots/only-$package/usr/share/doc/$package/copyright" || fail "$package has no licence"
  [ "$(field $package Version)" = "$version" ] || fail "$package has another version"
  field $package Description | grep -q . || fail "$package has no description"
  unpack all $package
done
for other in libfmt-dev nettle-dev; do needs libweft-dev $other; done
for package in libweft-dev weft-tools; do needs $package libweft-c1 "(= $version)"; done
twice=$(cd "$roots" && find only-* ! -type d -printf '%P\n' | sort | uniq -d)
[ -z "$twice" ] || fail "in two packages: $twice"

# The packages of all shared libraries that a file names are dependencies.
for file in $(find "$roots"/only-* -type f \( -name '*.so*' -o -path '*/bin/*' \)); do
  package=$(sed "s|$roots/only-\([^/]*\)/.*|\1|" <<<"$file")
  for library in $(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'); do
    if [[ $library == libweft-c.so.* ]]; then needs "$package" "libweft-c1"; continue; fi
    if [[ $library == libvipl-weft.so.* ]]; then needs "$package" "libvipl-weft1"; continue; fi
    [[ $library != ld-linux* ]] || continue
    path=$(ldconfig -p | sed -n "s|^\s*$library .*=> ||p" | head -n 1)
    [ -n "$path" ] || fail "$file needs $library, which this machine does not have"
    owner=$(dpkg -S "$(readlink -f "$path")" 2>/dev/null || dpkg -S "$path") ||
      fail "$file needs $library, of no package"
    needs "$package" "${owner%%:*}"
  done
done

# To build: libweft-dev and libweft-c1.
unpack dev libweft-c1 libweft-dev
[ ! -d "$roots/only-libvipl-weft1" ] || unpack dev libvipl-weft1
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$roots/dev" -name weft.pc)")
consumer=$source/tests/install/consumer
cc -std=c99 "$consumer/main.c" -o "$roots/in-c" $(pkg-config --cflags --libs weft-c)
sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$source/README.md" >"$roots/first.cpp"
c++ -std=c++20 "$roots/first.cpp" -o "$roots/first" $(pkg-config --cflags --libs weft)
cmake -S "$consumer" -B "$roots/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$roots/dev/usr" >/dev/null
cmake --build "$roots/consumer"
"$roots/consumer/consumer-in-c"

if [ -d "$roots/only-libvipl-weft1" ]; then
  cc "$source/tests/vipl/programs/drops.c" -o "$roots/in-vipl" $(pkg-config --cflags --libs vipl-weft) -pthread
  WEFT_TRANSPORTS=self,shm LD_LIBRARY_PATH=$(dirname "$(find "$roots/only-libvipl-weft1" -name 'libvipl-weft.so.1')") "$roots/in-vipl"
fi

# To run what was built: libweft-c1 for C, nothing for C++; and the tools.
library=$(dirname "$(find "$roots/only-libweft-c1" -name 'libweft-c.so.1')")
LD_LIBRARY_PATH=$library "$roots/in-c"
unpack tools weft-tools libweft-c1
[ ! -d "$roots/only-libvipl-weft1" ] || unpack tools libvipl-weft1
tools=$roots/tools/usr/bin
"$tools/weft-run" -n 2 "$roots/first" | grep -q "rank 1 catches ball 4" || fail "the first program does not run"
"$tools/weft-info" | grep -q "^built with:"
"$tools/weft-bench" --help >/dev/null
"$tools/weft-report" --list >/dev/null

[ -d "$roots/only-libweft-fi" ] || exit 0
provider=$(dirname "$(find "$roots/only-libweft-fi" -name libweft-fi.so)")
! command -v fi_info >/dev/null || FI_PROVIDER_PATH=$provider fi_info -p weft | grep -q "provider: weft"
! command -v mpirun.openmpi >/dev/null || "$roots/only-libweft-fi/usr/bin/weft-mpirun" --verify
