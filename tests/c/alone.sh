# SPDX-License-Identifier: Apache-2.0
# Errors, and peers by address.
. "$(dirname "$0")/common.sh"
for progress in dedicated polling; do
  WEFT_PROGRESS=$progress within_time 100 "$programs/c-alone"
done
