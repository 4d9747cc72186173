# SPDX-License-Identifier: Apache-2.0
# Lists of buffers, immediate words, connection requests and meetings: over each transport, with two ranks and four.
. "$(dirname "$0")/common.sh"
WEFT_TRANSPORTS=self,shm WEFT_PROGRESS=dedicated within_time 100 weft-run -n 4 "$programs/c-device"
WEFT_TRANSPORTS=self,shm WEFT_PROGRESS=polling within_time 100 weft-run -n 2 "$programs/c-device"
WEFT_TRANSPORTS=self,tcp WEFT_PROGRESS=dedicated within_time 100 weft-run -n 2 "$programs/c-device"
WEFT_TRANSPORTS=self,tcp WEFT_PROGRESS=polling within_time 100 weft-run -n 4 "$programs/c-device"
