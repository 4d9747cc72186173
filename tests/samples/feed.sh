# SPDX-License-Identifier: Apache-2.0
# Three subscribers of different speeds and one that is killed: those that block get all, the others the latest.
at="unix://weft-feed-$$"
feed publish "$at" --count 20000 --subscribers 4 >publisher.txt &
publisher=$!
trap 'kill $publisher $victim 2>/dev/null || true' EXIT
until grep -q publishing publisher.txt; do kill -0 $publisher; done
feed archive "$at" --pause 1000 >victim.txt & # blocks, until it is killed
victim=$!
feed archive "$at" >archive.txt &
archive=$!
feed chart "$at" --pause 1 >chart.txt &
chart=$!
feed books "$at" >books.txt &
books=$!
until weft-info topics "$at" >topics.txt && [ "$(grep -c depth topics.txt)" = 4 ]; do kill -0 $publisher; done
cat topics.txt
grep -q "^quotes  {u64,f64}  published" topics.txt
grep -q "drop_oldest  depth 8" topics.txt
kill -KILL $victim
wait $archive $chart $books
wait $publisher
trap - EXIT
cat archive.txt chart.txt books.txt
grep -q "received 20000, missed 0, wrong 0, the last one 20000" archive.txt
grep -q "wrong 0, the last one 20000" chart.txt
grep -q "wrong 0" books.txt
grep -q "published 20000 quotes" publisher.txt
# A topic of nothing.
if weft-info topics "unix://weft-no-feed-$$" 2>error.txt; then exit 1; fi
grep -q "weft-no-feed" error.txt
