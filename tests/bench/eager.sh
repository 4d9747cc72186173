# SPDX-License-Identifier: Apache-2.0
# Limits of eager messages over each transport.
. "$(dirname "$0")/common.sh"

bench eager --progress dedicated --rounds 1 --effort 0.02 --size 0,4,64K --json
says '"bench":"eager","transport":"shm"'
says '"eager_limit":"256k"'
says '"transport":"tcp"'
says '"to_constant":'
