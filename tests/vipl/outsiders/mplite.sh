# SPDX-License-Identifier: Apache-2.0
# MP_Lite over its module for VIA: its ping-pong; and NetPIPE's check of all bytes, where $OUTSIDER has NetPIPE.
. "$(dirname "$0")/common.sh"
needs gcc
sources=$(holder via.c "$OUTSIDER" "$OUTSIDER/MP_Lite")
rm -rf mplite
cp -r "$sources" mplite

# Functions that its files do not declare return pointers, which are longer than int today. The module for VIA has a
# list of messages of its own length, and functions that later files have, too.
compile() {
  gcc -c -O2 -w -std=gnu99 -fcommon -D_GNU_SOURCE -D_REENTRANT -DVIA_FILE -DGIGANET -include malloc.h -include stdlib.h \
    -include string.h -include unistd.h -I"$SOURCE/include" -Implite "$@"
}
objects=
for file in mpcore timer memory io copy; do
  compile "mplite/$file.c" -o "$file.o"
  objects="$objects $file.o"
done
compile -DMP_MPI_C_C mplite/via.c -o via.o
compile mplite/pong.c -o pong.o
link() {
  gcc -no-pie -fcommon "$@" via.o $objects -Llib -lvipl -lpthread -lm -Wl,--allow-multiple-definition \
    -Wl,--unresolved-symbols=ignore-in-object-files
}
link -o pong pong.o

# two PROGRAM OUTPUT TEXT ARGUMENTS...: runs both ranks, which find each other by a file of this folder.
two() {
  program=$1 output=$2 text=$3
  shift 3
  printf '2\n1\n%s\n0 %s\n1 %s\n' "$program" "$(hostname)" "$(hostname)" > .mplite.config
  timeout --kill-after=5 60 "$program" "$@" > "$output.0" 2>&1 &
  other=$!
  timeout --kill-after=5 60 "$program" "$@" > "$output.1" 2>&1 || { cat "$output.0" "$output.1"; exit 1; }
  wait "$other"
  cat "$output.0" "$output.1" > "$output"
  says "$output" "$text"
}
netpipe=
if [ -e "$sources/../src/netpipe.c" ]; then
  netpipe=$sources/../src
  compile -DMPI -DMPLITE -I"$netpipe" "$netpipe/netpipe.c" -o netpipe.o
  compile -DMPI -DMPLITE -I"$netpipe" "$netpipe/mpi.c" -o mpi.o
  compile mplite/mpi_wrappers.c -o mpi_wrappers.o
  link -o NPmplite netpipe.o mpi.o mpi_wrappers.o
fi
for transports in self,shm self,tcp; do
  echo "over $transports"
  export WEFT_TRANSPORTS=$transports
  two ./pong "pong-$transports" "Max rate"
  if [ -z "$netpipe" ]; then continue; fi
  two ./NPmplite "netpipe-$transports" " 0 failures" --integrity --quickest --end 2200000
  if grep -E " [1-9][0-9]* failures" "netpipe-$transports"; then exit 1; fi
done
