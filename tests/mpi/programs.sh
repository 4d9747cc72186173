# SPDX-License-Identifier: Apache-2.0
# programs.sh NAME FOLDER: an MPI program of Debian (packages/mpi.txt) on Open MPI's own transports and on weft. Its
# results must be the same; its run time is not compared. FOLDER has the inputs.
. "$(dirname "$0")/common.sh"
inputs=$2
limit=300

need() { type -P "$1" >/dev/null || skip "$1 is not installed ($2)"; }

# same WHAT DEFAULT WEFT: two files do not differ, and are not empty.
same() {
  [ -s "$2" ] || fail "$1: no result on the default transports"
  cmp "$2" "$3" || { diff "$2" "$3" | head -20; fail "$1: the results differ"; }
}

# on_both COMMAND...: once on each, with the outputs in default.txt and weft.txt.
on_both() {
  on_default "$@" >default.txt 2>default.err || { cat default.txt default.err; fail "on the default transports: $*"; }
  on_weft "$@" >weft.txt 2>weft.err || { tail -n 30 weft.txt weft.err; fail "on weft: $*"; }
  grep -q "MPI runs on weft" weft.err || fail "it did not run on weft"
}

netpipe() {
  need NPopenmpi netpipe-openmpi
  local options kind
  for options in "" -a "-a -2" "-a -z" "-a -S"; do
    # -i: each byte of each message is checked.
    # shellcheck disable=SC2086
    on_both -n 2 NPopenmpi -i -n 20 -u 1048576 $options
    cat weft.err weft.txt >all.txt
    if grep -qi "integrity check failed" all.txt; then cat all.txt; fail "netpipe $options: data is wrong"; fi
    # The number of lines shows that it went through all sizes.
    for kind in default weft; do
      cat $kind.err $kind.txt | grep -o "[0-9]* bytes.*passed" >$kind.sizes || true
    done
    same "netpipe $options" default.sizes weft.sizes
  done
}

hpcc() {
  need hpcc hpcc
  local ranks=2 kind
  for kind in default weft; do
    rm -rf "hpcc-$kind"
    mkdir "hpcc-$kind"
    # The package's own input, with a smaller matrix on these ranks.
    sed -e 's/^1000 /400 /' -e "s/^2 \( *\)Ps/1 \1Ps/; s/^2 \( *\)Qs/$ranks \1Qs/" \
      /usr/share/doc/hpcc/examples/_hpccinf.txt >"hpcc-$kind/hpccinf.txt"
    (
      cd "hpcc-$kind"
      "on_$kind" -n "$ranks" hpcc >out.txt 2>&1 || { cat out.txt; fail "hpcc on $kind"; }
    )
    # Residuals, errors and verdicts, not times and rates.
    grep -E "^[|][|]Ax|tests completed|^Success=|_residual=|_Errors=|^Found" "hpcc-$kind/hpccoutf.txt" >"$kind.txt"
    if grep -qE "FAILED|Success=0" "hpcc-$kind/hpccoutf.txt"; then
      grep -E "FAILED|Success=0" "hpcc-$kind/hpccoutf.txt"
      fail "hpcc finds its own results wrong on $kind"
    fi
    grep -q "Success=1" "hpcc-$kind/hpccoutf.txt" || fail "hpcc did not come to its end on $kind"
  done
  grep -q "MPI runs on weft" hpcc-weft/out.txt || fail "it did not run on weft"
  cat weft.txt
  same hpcc default.txt weft.txt
}

lammps() {
  need lmp lammps
  local ranks
  for ranks in 2 4; do
    on_both -n $ranks lmp -in "$inputs/melt.lammps" -log none
    for kind in default weft; do
      # The table of energies, and how the particles were distributed and met.
      sed -n '/^Step/,/^Loop/p; /^Nlocal/p; /^Nghost/p; /^Neighs/p' $kind.txt | grep -v '^Loop' >$kind.energies
    done
    same "lammps on $ranks ranks" default.energies weft.energies
  done
  cat weft.energies
}

mpi4py() {
  # Debian's Python: another one on PATH may not have its packages.
  local python=/usr/bin/python3
  $python -c "import mpi4py" 2>/dev/null || skip "mpi4py is not installed (python3-mpi4py)"
  local ranks
  for ranks in 2 5; do
    on_both -n $ranks $python "$inputs/objects.py"
    cat weft.txt
    same "mpi4py on $ranks ranks" default.txt weft.txt
  done
  on_both -n 2 $python -m mpi4py.bench ringtest
}

fourier() {
  need fourier libfftw3-mpi-dev
  local ranks
  for ranks in 2 3 4; do
    on_both -n $ranks fourier
    cat weft.txt
    same "Fourier transform on $ranks ranks" default.txt weft.txt
  done
}

case $1 in
  netpipe | hpcc | lammps | mpi4py | fourier) "$1" ;;
  *) fail "there is no program $1 here" ;;
esac
