// SPDX-License-Identifier: Apache-2.0
// A paper with two experiments, and what its command would print.
#pragma once

#include "page/experiment.hpp"
#include "page/record.hpp"

namespace weft::tests {

inline bench::json example_paper() {
  return bench::json::parse(R"({
    "id": "example", "title": "A <paper> & more", "authors": "A. Author", "where": "A place", "year": 2004,
    "machine": "two machines",
    "commands": {"turns": {"run": ["weft-bench", "turns"], "quick": ["--rounds", "1"], "full": []},
                 "gone": {"run": ["weft-bench", "gone"]}},
    "experiments": [
      {"id": "example-1", "label": "Figure 1", "title": "Times", "shows": "It shows <times>.", "kind": "lines",
       "x": {"label": "message size", "unit": "bytes", "scale": "log2"},
       "y": {"label": "time", "unit": "µs", "scale": "log10"},
       "paper": [{"name": "paper: fast", "points": [[4, 3.5], [4096, 15]], "source": "Table 1", "like": "fast"}],
       "series": [
         {"name": "fast", "role": "weft", "command": "turns", "select": {"way": "fast"}, "x": "size", "y": "us", "spread": ["p10", "p90"]},
         {"name": "slow", "role": "peer", "command": "turns", "select": {"way": ["slow", "slower"]}, "x": "size", "y": "us", "spread": ["p10", "p90"]},
         {"name": "absent", "role": "raw", "command": "gone", "x": "size", "y": "us"}],
       "claims": [
         {"text": "fast is faster", "left": {"series": "fast", "x": 4}, "right": {"series": "slow", "x": 4}, "is": "below", "paper": "1 against 2"},
         {"text": "as fast when long", "left": {"series": "fast", "x": 4096}, "right": {"series": "slow", "x": 4096}, "is": "near"},
         {"text": "absent is slowest", "left": {"series": "absent", "x": 4}, "right": {"series": "slow", "x": 4}, "is": "above"}]},
      {"id": "example-2", "label": "Figure 2", "title": "Ratios", "kind": "bars", "relative_to": "slow",
       "x": {"label": "size", "unit": "bytes", "scale": "category"}, "y": {"label": "time", "unit": "µs"},
       "series": [
         {"name": "fast", "command": "turns", "select": {"way": "fast"}, "x": "size", "y": "us", "factor": 1000, "spread": ["p10", "p90"]},
         {"name": "slow", "command": "turns", "select": {"way": "slow"}, "x": "size", "y": "us", "factor": 1000}],
       "claims": [{"text": "below", "left": {"series": "fast", "x": 4}, "right": {"value": 0.6}, "is": "below"}]},
      {"id": "example-3", "label": "Figure 3", "title": "Nothing said", "kind": "table", "no_claim": "the paper says nothing",
       "x": {"label": "size"}, "y": {"label": "time", "unit": "µs"},
       "series": [{"name": "MPICH", "command": "turns", "select": {"way": "none"}, "x": "size", "y": "us", "absent": "it is not here"}]}],
    "unavailable": [{"label": "Figure 3", "why": "no such machine"}]})");
}

inline bench::page::records example_records() {
  return {{"example.turns",
           {.command = "weft-bench turns --json",
            .seconds = 2,
            .problem = "",
            .lines = bench::parse_lines(R"({"way":"fast","size":4,"us":1.0,"p10":0.9,"p90":1.2}
{"way":"fast","size":4096,"us":9.5,"p10":9.4,"p90":9.6}
{"way":"slow","size":4,"us":2.0,"p10":1.9,"p90":2.1}
{"way":"slow","size":4096,"us":10.0,"p10":9.9,"p90":10.2}
)")}},
          {"example.gone",
           {.command = "weft-bench gone --json",
            .seconds = 1,
            .problem = "exit code 1; it said:\nno <device>",
            .lines = {}}}};
}

}  // namespace weft::tests
