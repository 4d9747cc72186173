# SPDX-License-Identifier: Apache-2.0
# weft-info --version prints the versions of the build and of this machine, and warns of a library that is older.
fail() { printf '%s\n' "$@"; exit 1; }

shown=$(weft-info --version)
for row in "^weft " "^built with:" "^built by: .*++ " "^glibc " "^fmt " "^asio " "^nettle " "^kernel .*$(uname -r)"; do
  grep -q "$row" <<<"$shown" || fail "no line $row in:" "$shown"
done
! grep "^warning: .* is loaded" <<<"$shown" || fail "a warning without a mixture"
for member in compiler libraries built_with loaded warnings kernel release missing; do
  WEFT_WAIT_SET=nonsense weft-info --version --json | grep "\"$member\":" >/dev/null || fail "no member $member"
done

# The same library, with the name of an older one.
library=$(ldd "$(command -v weft-info)" | sed -n 's/.*\(libfmt\.so\.[0-9]*\) => \([^ ]*\) .*/\1 \2/p')
[ -n "$library" ] || { echo "skipped: weft-info has fmt inside"; exit 77; }
read -r name path <<<"$library"
mkdir -p older
cp "$path" older/libfmt.so.1.2.3
ln -sf libfmt.so.1.2.3 "older/$name"
shown=$(LD_LIBRARY_PATH=$PWD/older weft-info --version)
grep -q "^warning: fmt 1.2.3 is loaded, and weft was built with" <<<"$shown" || fail "no warning of an older fmt:" "$shown"
