# SPDX-License-Identifier: Apache-2.0
# A child that fork made closes what is its parent's.
. "$(dirname "$0")/common.sh"
for progress in dedicated polling; do
  WEFT_PROGRESS=$progress within_time 100 "$programs/c-fork"
done
