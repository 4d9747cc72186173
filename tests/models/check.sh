#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh MODEL FOLDER holds|breaks [-DNAME...]: searches all states of a Promela model, compiled with the names.
# `holds`: fails on any error or an unfinished search. `breaks`: the names make the model wrong; fails unless an error
# is found.
set -euo pipefail
model=$1 work=$2 expected=$3
shift 3

command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }

options() { sed -n "s,^// $1: ,,p" "$model"; }

rm -rf "$work"
mkdir -p "$work"
cd "$work"
spin "$@" -a "$model"
# A well optimised compilation takes longer than most searches: a model with a long search says "// cc: -O2".
# shellcheck disable=SC2046  # options are words
gcc -O0 -w $(options cc) -o pan pan.c
# shellcheck disable=SC2046
./pan -m1000000 $(options pan) | tee report.txt

if [[ $expected == breaks ]]; then
  grep -qE '^pan:.*(assertion violated|invalid end state)' report.txt && exit
  echo "the model holds with $*, so it does not check what this takes away; give it the case that needs it"
  exit 1
fi
grep -q 'errors: 0' report.txt || { echo "the model has an error; $work/*.trail leads to it"; exit 1; }
if grep -q 'max search depth too small' report.txt; then
  echo "the search was cut off; add a line '// pan: -m<depth>' to $model"
  exit 1
fi
