# SPDX-License-Identifier: Apache-2.0
# shared_folder.sh FOLDER: two containers that share nothing but a folder pass descriptors in it, and use shared memory.
# The second process is in new namespaces of each kind, and of several; FOLDER has the programs.
PATH=$1:$PATH
skip() {
  echo "skipped: $*"
  exit 77
}
unshare --net --pid --fork --mount --uts --ipc --user --map-root-user true 2>/dev/null || skip "namespaces are forbidden here"
folder=$(mktemp -d /tmp/weft-names-XXXXXX) reader=
trap 'rm -rf "$folder"; kill $reader 2>/dev/null || true' EXIT
chmod 1777 "$folder"
export WEFT_SOCKET_DIR=$folder
head -c 3000000 /dev/urandom >big.file

# through HOW...: the writer runs as HOW says, and reaches the reader by the transport of $expected.
through() {
  echo "--- ${*:-no namespace} ${WEFT_JOB_KEY:+with a key}"
  local door=$folder/weft-door:$(id -u):hose former
  former=$(stat -c %i "$door" 2>/dev/null || true)  # of a process that was killed
  weft-pipe --listen unix://hose >copy &
  reader=$!
  until [ -S "$door" ] && [ "$(stat -c %i "$door")" != "$former" ]; do kill -0 $reader; sleep 0.05; done
  timeout 20 "$@" weft-pipe --connect unix://hose <big.file || exit 1
  wait $reader
  cmp big.file copy
  # What is not shared falls away, and is named; shared memory does not.
  timeout 20 "$@" weft-info --why unix://nobody >why.txt 2>&1 || true
  grep -q "nobody listens at unix://nobody" why.txt || { cat why.txt; exit 1; }
}
through
through unshare --net
through unshare --pid --fork
through unshare --ipc
through unshare --uts
through unshare --mount
through unshare --net --pid --fork --mount --uts --ipc
through unshare --user --map-current-user
through unshare --net --pid --fork --mount --uts --ipc --user --map-current-user
[ -z "$(ls "$folder")" ] || { ls -l "$folder"; exit 1; }

# Which way it is. The reader of this connection sees a requester come and go.
weft-pipe --listen unix://hose >copy 2>reader.txt &
reader=$!
until [ -S "$folder/weft-door:$(id -u):hose" ]; do kill -0 $reader; sleep 0.05; done
unshare --net --pid --fork weft-info --why unix://hose >why.txt
cat why.txt
grep -q "shm .*chosen" why.txt
wait $reader || true

# What a context in a container waits for is seen from outside of it: its socket is a file that this host sees.
for how in "--net --mount" "--net --mount --ipc --uts --user --map-current-user"; do
  unshare $how weft-pipe --listen unix://hose >copy 2>reader.txt &
  reader=$!
  until [ -S "$folder/weft-door:$(id -u):hose" ]; do kill -0 $reader; sleep 0.05; done
  weft-info --attach $reader >attach.txt 2>&1 || { cat attach.txt; exit 1; }
  grep -q "pending operations" attach.txt
  kill $reader
  wait $reader || true
  rm -f "$folder"/*
done

# Another user has to know the key.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  other() { setpriv --reuid=65533 --regid=65533 --clear-groups "$@"; }
  export WEFT_JOB_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
  ranks() {  # ranks KEY-OF-THE-OTHER: two ranks, of two users, in two network namespaces
    WEFT_RANK=0 WEFT_SIZE=2 WEFT_ROOT=localhost:7478 WEFT_START_TIMEOUT=5 weft-info --why rank:1 >zero.txt 2>&1 &
    local zero=$!
    WEFT_RANK=1 WEFT_SIZE=2 WEFT_ROOT=localhost:7478 WEFT_START_TIMEOUT=5 other weft-info --why rank:0 >one.txt 2>&1
    wait $zero
  }
  ranks || { cat zero.txt one.txt; exit 1; }
  cat zero.txt one.txt
  grep -q "shm .*chosen" zero.txt && grep -q "shm .*chosen" one.txt
  ( unset WEFT_SOCKET_DIR; ranks || true )
  if grep "shm .*chosen" zero.txt; then exit 1; fi  # by abstract names another user is never let in
  unset WEFT_JOB_KEY
fi

# What is left by a killed process is removed by those that come.
weft-pipe --listen unix://hose >copy 2>/dev/null &
reader=$!
until [ -S "$folder/weft-door:$(id -u):hose" ]; do kill -0 $reader; sleep 0.05; done
kill -KILL $reader
wait $reader || true
reader=
[ -n "$(ls "$folder")" ]
through
[ -z "$(ls "$folder")" ] || { ls -l "$folder"; exit 1; }

# A folder that is removed under a process: it says so, since others do not wake it any more.
mkdir "$folder/inner"
WEFT_SOCKET_DIR=$folder/inner weft-pipe --listen unix://hose >copy 2>removed.txt &
reader=$!
until [ -S "$folder/inner/weft-door:$(id -u):hose" ]; do kill -0 $reader; sleep 0.05; done
rm -r "$folder/inner"
until grep -q "was removed, or its folder (WEFT_SOCKET_DIR" removed.txt; do kill -0 $reader; sleep 0.05; done
kill $reader
wait $reader || true

# A folder that is none is named.
for bad in relative /nowhere /etc/hostname "/tmp/$(printf 'x%.0s' $(seq 100))"; do
  WEFT_SOCKET_DIR=$bad weft-info >bad.txt 2>&1 && exit 1
  grep -q "WEFT_SOCKET_DIR (options::socket_dir)" bad.txt || { cat bad.txt; exit 1; }
done
