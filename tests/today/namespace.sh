# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts here: starts the script again as root, with mounts of its own, so that what it mounts is gone
# with its last process. Who is not root gets a user namespace. Exits with 77 where neither is allowed.
skip() { echo "skipped: no Debian in a folder: $*" >&2; exit 77; }

own_mounts() {
  [[ -z ${WEFT_OWN_MOUNTS:-} ]] || return 0
  local own=(unshare --mount)
  if ((EUID != 0)); then
    command -v newuidmap > /dev/null || skip "neither root nor newuidmap (apt-get install uidmap)"
    own=(unshare --map-root-user --map-auto --mount)
  fi
  local why
  why=$("${own[@]}" true 2>&1) || skip "mounts of one's own are not allowed here: ${why:-${own[*]} fails}"
  WEFT_OWN_MOUNTS=yes exec "${own[@]}" "$@"
}
