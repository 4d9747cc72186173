// SPDX-License-Identifier: Apache-2.0
#include "page/read_claim.hpp"

#include "page/fields.hpp"

namespace weft::bench::page {

namespace {

using namespace fields;

side_of_claim read_side(const json& in, const char* key) {
  const json& from = at(in, key);
  return in_place(fmt::format("\"{}\"", key), [&] {
    side_of_claim result;
    if (from.is_object() && from.contains("value")) {
      check_keys(from, {"value"});
      result.number = get<double>(from, "value");
    } else {
      check_keys(from, {"series", "x", "value"});
      result.series = get<std::string>(from, "series");
      result.x = at(from, "x");
    }
    return result;
  });
}

relation read_relation(const json& from) {
  return choice<relation>(
      from, "is",
      {{"below", relation::below}, {"above", relation::above}, {"near", relation::near}});
}

control_of_claim read_control(const json& from) {
  check_keys(from, {"text", "left", "right", "is"});
  return {.text = get<std::string>(from, "text"),
          .left = read_side(from, "left"),
          .right = read_side(from, "right"),
          .is = read_relation(from)};
}

}  // namespace

claim read_claim(const json& from) {
  check_keys(from, {"text", "left", "right", "is", "paper", "control", "cause", "why"});
  claim result{.text = get<std::string>(from, "text"),
               .left = read_side(from, "left"),
               .right = read_side(from, "right"),
               .is = read_relation(from),
               .paper = get_or<std::string>(from, "paper", "")};
  if (from.contains("control"))
    result.control = in_place("\"control\"", [&] { return read_control(from["control"]); });
  if (from.contains("cause") != from.contains("why"))
    refuse("\"cause\" and \"why\" belong together");
  if (from.contains("cause"))
    result.cause = choice<cause_place>(from, "cause",
                                       {{"weft", cause_place::weft},
                                        {"machine", cause_place::machine},
                                        {"method", cause_place::method}});
  result.why = get_or<std::string>(from, "why", "");
  return result;
}

}  // namespace weft::bench::page
