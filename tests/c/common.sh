# SPDX-License-Identifier: Apache-2.0
programs=$(dirname "$(command -v weft-run)")/tests
