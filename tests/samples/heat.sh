# SPDX-License-Identifier: Apache-2.0
# heat computes the same on any number of processes, and ends on all of them when it cannot.
picture=$SAMPLES/heat/picture.pgm

heat --steps 100 "$picture" alone.pgm
cmp "$picture" alone.pgm >/dev/null && { echo "nothing has flowed"; exit 1; }
for n in 1 2 3 4; do
  weft-run -n $n heat --check --steps 100 "$picture" $n.pgm
  cmp alone.pgm $n.pgm
done

# In colour, as PNG, with 16 bits, and with more processes than rows.
make_picture fresh.png
weft-run -n 3 heat --check --steps 20 fresh.png fresh-out.png
printf 'P3 4 3 65535 %s' "$(seq -s ' ' 1 1800 64000 | cut -d ' ' -f 1-36)" > small.ppm
heat --steps 20 small.ppm small-1.ppm
weft-run -n 5 heat --check --steps 20 small.ppm small-5.ppm
cmp small-1.ppm small-5.ppm

weft-run -n 2 heat --progress --steps 10 "$picture" progress.pgm 2>&1 | grep -q "100 %  step 10 of 10"

# fails <text of the one message> <arguments of heat>...
fails() {
  local says=$1
  shift
  if weft-run -n 3 heat "$@" >fails.txt 2>&1; then
    echo "heat $* should have failed"
    exit 1
  fi
  if [ "$(grep -c "$says" fails.txt)" != 1 ]; then
    echo "heat $* should have said once: $says. It said:"
    cat fails.txt
    exit 1
  fi
}
fails "nothing.pgm: cannot be opened: No such file" nothing.pgm
fails "the name must end in" "$picture" out.jpg
fails "cannot be created" --steps 1 "$picture" no/such/folder.pgm
head -c 1000 "$picture" >short.pgm
fails "short.pgm: byte 15: truncated" short.pgm
fails "in range" --rate 0.3 "$picture"
