# SPDX-License-Identifier: Apache-2.0
# A weft program runs unchanged under mpirun: the same result, the same ranks, and no hang when one dies.
. "$(dirname "$0")/common.sh"

same_as_alone mpi

# A rank may make its context long after the others: the launcher itself waits for two seconds only.
cat >late.sh <<'END'
if [ "$OMPI_COMM_WORLD_RANK" = "$1" ]; then sleep "$2"; fi
exec heat --steps 10 "$3" late.pgm
END
mpi -n 2 bash late.sh 0 8 "$picture" >late.txt 2>&1 || { cat late.txt; exit 1; }
grep -q "rank 1 waits until rank 0 makes its context" late.txt
mpi -n 2 bash late.sh 1 3 "$picture"

# weft's own launcher under it counts as the launcher.
mpi -n 1 weft-run -n 2 hello | grep -q "hello from rank 1"

# A rank that is killed ends the job: that is mpirun's rule, and weft does not prevent it.
cat >victim.sh <<'END'
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then (sleep 1; kill -9 $$) & fi
exec heat --steps 100000000 "$1" dead.pgm
END
code=0
mpi -n 3 bash victim.sh "$picture" >victim.txt 2>&1 || code=$?
if [ $code = 0 ] || [ $code = 124 ]; then
  echo "a job whose rank was killed ended with $code: well, or not at all"
  exit 1
fi

if PMIX_NAMESPACE=nobody PMIX_RANK=0 hello >orphan.txt 2>&1; then
  echo "a process without its launcher should have said so"
  exit 1
fi
grep -q "unset PMIX_NAMESPACE" orphan.txt
