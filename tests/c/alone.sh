# SPDX-License-Identifier: Apache-2.0
# Errors, and peers by address.
. "$(dirname "$0")/common.sh"
for progress in dedicated polling; do
  WEFT_PROGRESS=$progress timeout -s KILL 50 "$programs/c-alone"
done
