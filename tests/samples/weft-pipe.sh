# SPDX-License-Identifier: Apache-2.0
# A file arrives unchanged: by address over shared memory and TCP, and under weft-run; and a process without a peer says
# so.
head -c 30000001 /dev/urandom >big.file
sum() { sha256sum <"$1"; }
fails() { if "$@"; then exit 1; fi; }

# Each pipe has its own listener; the writer starts when the reader is there.
pipe_through() {  # ADDRESS
  rm -f copy
  weft-pipe --listen "$1" >copy &
  listening=$!
  until cat big.file | weft-pipe --connect "$1" --progress 2>said.txt; do
    kill -0 $listening
    grep -q "nobody listens" said.txt || { cat said.txt; kill $listening; exit 1; }
    sleep 0.1
  done
  wait $listening
  grep -q "28.6 MiB" said.txt
  [ "$(sum copy)" = "$(sum big.file)" ]
}
pipe_through unix://weft-pipe-$$
WEFT_TRANSPORTS=self,tcp pipe_through unix://weft-pipe-tcp-$$

cat big.file | weft-run -n 2 weft-pipe --output copy
[ "$(sum copy)" = "$(sum big.file)" ]

: | weft-run -n 2 weft-pipe --output copy  # no data at all
[ ! -s copy ]

# The reader or the writer is stopped for a while in the middle; nothing is lost.
halt() {  # reader|writer
  weft-pipe --listen unix://weft-pipe-halt-$1-$$ >copy &
  reader=$!
  until grep -q "weft-pipe-halt-$1-$$" /proc/net/unix; do sleep 0.05; done
  # The second half is not written before the halt, so that the halt is in the middle.
  rm -f half-$1
  mkfifo half-$1
  weft-pipe --connect unix://weft-pipe-halt-$1-$$ <half-$1 &
  writer=$!
  exec 4>half-$1
  head -c 15000000 big.file >&4
  if [ $1 = reader ]; then halted=$reader; else halted=$writer; fi
  kill -STOP $halted
  { tail -c +15000001 big.file; } >&4 &
  feeding=$!
  exec 4>&-
  sleep 0.5
  kill -0 $reader && kill -0 $writer
  kill -CONT $halted
  wait $feeding $writer
  wait $reader
  [ "$(sum copy)" = "$(sum big.file)" ]
}
halt reader
halt writer

# No process on the other side, for both sides.
fails weft-pipe --listen unix://weft-pipe-none-$$ --timeout 1 2>said.txt
grep -q "weft-pipe: nobody connected to unix://weft-pipe-none-$$" said.txt
fails weft-pipe --connect unix://weft-pipe-none-$$ <big.file 2>said.txt
cat said.txt
grep -q "weft-pipe: " said.txt
fails weft-pipe </dev/null 2>said.txt
grep -q "it takes two" said.txt
weft-pipe --help | grep -q -- --progress

# One side dies in the middle: the other one says so, and ends.
lose() {  # reader|writer
  rm -f held-$1
  mkfifo held-$1
  weft-pipe --listen unix://weft-pipe-$1-$$ >held-$1 2>reader.txt &
  reader=$!
  exec 3<>held-$1  # the reader's output is full soon, and no process reads it
  until grep -q "weft-pipe-$1-$$" /proc/net/unix; do sleep 0.05; done
  cat /dev/zero | weft-pipe --connect unix://weft-pipe-$1-$$ 2>writer.txt &
  writer=$!
  head -c 100000 <&3 >/dev/null
  if [ $1 = reader ]; then
    kill -9 $reader
    fails wait $writer
    cat writer.txt
    grep -q "weft-pipe: " writer.txt
  else
    kill -9 $writer
    cat <&3 >/dev/null &
    drain=$!
    fails wait $reader
    kill $drain
    cat reader.txt
    grep -q "weft-pipe: " reader.txt
  fi
  exec 3>&-
}
lose reader
lose writer

# The reader dies while the writer waits for its input, which stays silent: the writer notices.
rm -f silent
mkfifo silent
weft-pipe --listen unix://weft-pipe-silent-$$ >arrived &
reader=$!
until grep -q "weft-pipe-silent-$$" /proc/net/unix; do sleep 0.05; done
exec 5<>silent
weft-pipe --connect unix://weft-pipe-silent-$$ --progress <silent 2>writer.txt &
writer=$!
echo first >&5
until grep -q first arrived; do sleep 0.05; done
kill -9 $reader
fails wait $writer
cat writer.txt
grep -q "the other side has gone before the end of the input" writer.txt
exec 5>&-
