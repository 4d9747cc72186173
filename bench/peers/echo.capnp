# SPDX-License-Identifier: Apache-2.0
@0xc2d3f1a7b85e6094;

interface Echo {
  call @0 (data :Data) -> (data :Data);
}
