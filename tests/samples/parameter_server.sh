# SPDX-License-Identifier: Apache-2.0
# Three workers fit a line; each checks the fit.
weft-run -n 4 parameter_server >parameter_server.txt
cat parameter_server.txt
grep -q "after 1200 gradients of 3 workers: y = [23]" parameter_server.txt
weft-run -n 2 parameter_server
