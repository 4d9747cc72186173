# SPDX-License-Identifier: Apache-2.0
# The result is right without a loss, and after one at any place: second and last step, checkpoint, and each neighbour.
weft-run -n 3 survive | tee survive.txt
grep -q "right after 100 steps, on 3 ranks" survive.txt

# dies RANKS RANK STEP
dies() {
  status=0
  weft-run -n "$1" survive --kill "$2" --at "$3" >survive.txt || status=$?
  cat survive.txt
  [ $status = 137 ] # of the rank that was killed
  grep -q "rank $2 has died" survive.txt
  grep -q "right after 100 steps, on $(($1 - 1)) ranks" survive.txt
}
dies 4 2 25
dies 4 3 30
dies 3 1 1
dies 2 1 99
WEFT_TRANSPORTS=self,tcp dies 4 1 57

# The one that dies is started again, and takes its place.
for where in 1 2 3; do
  for step in 1 30 99; do
    weft-run -n 4 --restart 1 survive --kill $where --at $step --replace >survive.txt
    cat survive.txt
    grep -q "rank $where has come back" survive.txt
    grep -q "right after 100 steps, on 4 ranks" survive.txt
  done
done
