# SPDX-License-Identifier: Apache-2.0
# mpi_device alone, and around rings.
mpi_device
weft-run -n 2 mpi_device
WEFT_TRANSPORTS=self,tcp weft-run -n 4 mpi_device
