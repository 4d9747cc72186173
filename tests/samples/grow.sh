# SPDX-License-Identifier: Apache-2.0
# Processes join a running job, two of them at once, talk to rank 0, and leave.
rm -f host.txt  # from a previous run
grow 4 >host.txt &
host=$!
trap 'kill $host 2>/dev/null || true' EXIT
for _ in $(seq 300); do
  [ -s host.txt ] && break
  sleep 0.1
done
address=$(head -n 1 host.txt)
grow "$address" | tee one.txt
grep -q "I am rank 1 of 2 members" one.txt
grep -q "rank 0 answers 2" one.txt
grow "$address" >two.txt &
two=$!
grow "$address" >three.txt
wait $two
grep -h "I am rank [23] of" two.txt three.txt | sort -u | wc -l | grep -qx 2
grow "$address"
wait $host
cat host.txt
grep -q "epoch 8: 1 members" host.txt
