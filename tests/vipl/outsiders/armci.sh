# SPDX-License-Identifier: Apache-2.0
# ARMCI's own test over its port to VIA, two ranks as on two hosts. Its sources are as they are in $OUTSIDER.
. "$(dirname "$0")/common.sh"
needs mpicc mpirun gfortran make
sources=$(holder src/via.c "$OUTSIDER" "$OUTSIDER/armci")
rm -rf armci
cp -r "$sources" armci

# Before 2004 its locks know of x86 with 32 bits only; their instructions are the same.
more=
if ! grep -q __x86_64__ armci/src/spinlock.h; then more=-D__i386__; fi
make -C armci/src TARGET=LINUX64 ARMCI_NETWORK=VIA MSG_COMMS=MPI CC=mpicc FC=gfortran COPT="-O2 -w $more" FOPT=-O2 \
  VIA_INCLUDE="$SOURCE/include" VIA_LIB="$PWD/lib" test.x > build.out 2>&1 || { tail -n 30 build.out; exit 1; }

root=
if [ "$(id -u)" = 0 ]; then root=--allow-run-as-root; fi
for transports in self,shm self,tcp; do
  echo "over $transports"
  export WEFT_TRANSPORTS=$transports
  timeout --kill-after=5 120 mpirun $root --oversubscribe -x LD_LIBRARY_PATH -x WEFT_TRANSPORTS \
    -n 1 env ARMCI_HOSTNAME=localhost armci/src/test.x : -n 1 env ARMCI_HOSTNAME="$(hostname)" armci/src/test.x \
    > "$transports.out" 2>&1 || { tail -n 40 "$transports.out"; exit 1; }
  says "$transports.out" "ARMCI configured for 2 cluster nodes"
  says "$transports.out" "All tests passed"
done
