# SPDX-License-Identifier: Apache-2.0
# slim.sh FOLDER: what the libraries of Open MPI and the provider in FOLDER need of libfabric is in the slim one, in the
# same symbol versions.
. "$(dirname "$0")/common.sh"
slim=$1/slim/libfabric.so.1
[ -e "$slim" ] || skip "the slim libfabric was not built"
command -v objdump >/dev/null || skip "objdump is not installed (binutils)"
libraries=$(mpicc.openmpi --showme:libdirs)

# calls: CALL@VERSION for each line of objdump -T that has one.
calls() { sed -n 's/.*[ (]\(FABRIC_[0-9.]*\))\{0,1\}  *\(fi_[a-z0-9_]*\)$/\2@\1/p' | sort -u; }
objdump -T "$1/libweft-fi.so" "$libraries"/*.so "$libraries"/openmpi*/*.so 2>/dev/null | grep -F '*UND*' | calls >needed.txt
objdump -T "$slim" | grep -vF '*UND*' | calls >there.txt
cat needed.txt
grep -q "^fi_getinfo@" needed.txt || fail "nothing of Open MPI was found to need libfabric"
comm -23 needed.txt there.txt >missing.txt
[ ! -s missing.txt ] || { cat missing.txt; fail "the slim libfabric lacks these"; }
