// SPDX-License-Identifier: Apache-2.0
// A strict reader of XML elements, for tests of pages and pictures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::tests {

/// The first fault of `text`: a tag that is not closed, an attribute without quotes or given twice,
/// a bare < or &, an unknown entity; empty if it is well-formed. A leading <!DOCTYPE ...> is
/// allowed.
inline std::string xml_fault(std::string_view text) {
  std::vector<std::string> open;
  const auto bad_entities = [](std::string_view content) -> std::string {
    for (std::size_t at = 0; (at = content.find('&', at)) != std::string_view::npos; ++at) {
      const auto name = content.substr(at, content.find(';', at) - at);
      if (name != "&lt" && name != "&gt" && name != "&amp" && name != "&quot" && name != "&#39")
        return "entity " + std::string(content.substr(at, 20));
    }
    return {};
  };
  if (text.starts_with("<!DOCTYPE")) text.remove_prefix(text.find('>') + 1);
  while (!text.empty()) {
    const auto start = text.find('<');
    if (auto fault = bad_entities(text.substr(0, start)); !fault.empty()) return fault;
    if (start == std::string_view::npos) break;
    const auto end = text.find('>', start);
    if (end == std::string_view::npos) return "a tag without end";
    std::string_view tag = text.substr(start + 1, end - start - 1);
    text.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "closed: " + std::string(tag);
      open.pop_back();
      continue;
    }
    const bool alone = tag.ends_with('/');
    if (alone) tag.remove_suffix(1);
    const std::string name(tag.substr(0, tag.find_first_of(" \n")));
    if (name.empty()) return "a tag without name";
    tag.remove_prefix(name.size());
    std::vector<std::string> attributes;
    while (tag.find_first_not_of(" \n") != std::string_view::npos) {
      tag.remove_prefix(tag.find_first_not_of(" \n"));
      const auto equals = tag.find("=\"");
      if (equals == std::string_view::npos) return "attribute of " + name;
      attributes.emplace_back(tag.substr(0, equals));
      for (std::size_t i = 0; i + 1 < attributes.size(); ++i)
        if (attributes[i] == attributes.back()) return "twice: " + attributes.back();
      tag.remove_prefix(equals + 2);
      const auto quote = tag.find('"');
      if (quote == std::string_view::npos) return "quotes of " + name;
      const auto content = tag.substr(0, quote);
      if (content.find('<') != std::string_view::npos) return "bare < in " + name;
      if (auto fault = bad_entities(content); !fault.empty()) return fault;
      tag.remove_prefix(quote + 1);
    }
    if (!alone) open.push_back(name);
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

inline std::size_t count_of(std::string_view what, std::string_view in) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = in.find(what, at)) != std::string_view::npos; at += what.size())
    ++count;
  return count;
}

}  // namespace weft::tests
