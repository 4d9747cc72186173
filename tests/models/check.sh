#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh MODEL FOLDER: searches all states of a Promela model; fails on any error or an unfinished search.
set -euo pipefail
model=$1 work=$2

command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }

options() { sed -n "s,^// $1: ,,p" "$model"; }

mkdir -p "$work"
cd "$work"
spin -a "$model"
# shellcheck disable=SC2046  # options are words
gcc -O2 -w $(options cc) -o pan pan.c
# shellcheck disable=SC2046
./pan -m1000000 $(options pan) | tee report.txt

grep -q 'errors: 0' report.txt || { echo "the model has an error; $work/*.trail leads to it"; exit 1; }
if grep -q 'max search depth too small' report.txt; then
  echo "the search was cut off; add a line '// pan: -m<depth>' to $model"
  exit 1
fi
