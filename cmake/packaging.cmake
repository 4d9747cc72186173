# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` leaves for others. Filled in with the package files.
