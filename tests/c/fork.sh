# SPDX-License-Identifier: Apache-2.0
# A child that fork made closes its copy of the parent's context.
. "$(dirname "$0")/common.sh"
for progress in dedicated polling; do
  WEFT_PROGRESS=$progress within_time 100 "$programs/c-fork"
done
