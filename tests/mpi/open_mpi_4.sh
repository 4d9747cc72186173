# SPDX-License-Identifier: Apache-2.0
# open_mpi_4.sh FOLDER: no job of Open MPI 4 runs on the provider in FOLDER without the library that puts Open MPI right.
. "$(dirname "$0")/common.sh"
[ "$open_mpi" = 4 ] || skip "Open MPI 5 needs no such library"
folder=$1
library=$folder/libweft-open-mpi-4.so
root=
if [ "$(id -u)" = 0 ]; then root=--allow-run-as-root; fi
# by_hand ARGUMENTS...: a job without weft-mpirun.
by_hand() {
  # shellcheck disable=SC2086
  FI_PROVIDER_PATH=$folder timeout -k 5 "$limit" mpirun.openmpi $root --mca pml cm --mca mtl ofi \
    --mca mtl_ofi_provider_include weft -x FI_PROVIDER_PATH "$@"
}
if by_hand -n 2 mpi-conformance self >said.txt 2>&1; then fail "a job runs without the library"; fi
grep -qF "give mpirun -x LD_PRELOAD=$library" said.txt || { cat said.txt; fail "the cure is not named"; }
by_hand -n 2 -x "LD_PRELOAD=$library" mpi-conformance displaced || fail "the cure is none"

# Of several programs each has it, and what a user preloads stays.
on_weft -n 1 -x LD_PRELOAD=libm.so.6 mpi-conformance displaced : -n 1 mpi-conformance displaced ||
  fail "several programs"
on_weft -n 1 -x LD_PRELOAD=libm.so.6 sh -c 'echo "$LD_PRELOAD"' : -n 1 sh -c 'echo "$LD_PRELOAD"' 2>/dev/null | sort >said.txt
ours=$folder/libweft-mpi-collectives.so:$library
printf '%s\nlibm.so.6:%s\n' "$ours" "$ours" | sort | cmp - said.txt || { cat said.txt; fail "LD_PRELOAD"; }

# It comes before the libraries that a program brings.
command -v readelf >/dev/null || skip "the rest: readelf is not installed (binutils)"
needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
case $needed in *libstdc++*) fail "the library needs libstdc++" ;; esac
