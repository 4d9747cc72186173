// SPDX-License-Identifier: Apache-2.0
// A strict reader of OpenMetrics text (version 1.0), as far as weft writes it: counters, gauges and
// an info.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::tests {

/// Takes the text apart, line by line, and remembers the samples.
class openmetrics {
 public:
  /// \throws std::runtime_error that names the line and what is wrong with it
  explicit openmetrics(std::string_view text) {
    bool ended = false;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      ++number_;
      if (end == text.npos) fail("the last line has no end");
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (ended) fail("something follows # EOF");
      if (line == "# EOF")
        ended = true;
      else if (line.starts_with("# "))
        describe(line.substr(2));
      else
        sample(line);
    }
    if (!ended) fail("there is no # EOF");
  }

  /// The value of a sample; nothing: there is none. \param labels as they are written, in their
  /// order
  std::optional<double> value(const std::string& name, const std::string& labels) const {
    const auto found = samples_.find(name + "{" + labels + "}");
    return found == samples_.end() ? std::nullopt : std::optional(found->second);
  }
  std::size_t families() const noexcept { return seen_.size(); }
  std::size_t samples() const noexcept { return samples_.size(); }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("line " + std::to_string(number_) + ": " + what);
  }
  static bool is_name(std::string_view name) {
    const auto letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (name.empty() || !letter(name[0])) return false;
    for (const char c : name)
      if (!letter(c) && !(c >= '0' && c <= '9')) return false;
    return true;
  }
  std::string_view word(std::string_view& line) const {
    const std::size_t end = line.find(' ');
    if (end == line.npos) fail("it ends too early");
    const std::string_view first = line.substr(0, end);
    line.remove_prefix(end + 1);
    return first;
  }

  void describe(std::string_view line) {
    const std::string_view what = word(line);
    const std::string name(word(line));
    if (!is_name(name)) fail("no name: " + name);
    if (what == "TYPE") {
      if (!seen_.insert(name).second) fail("a second family " + name);
      family_ = name;
      type_ = line;
      unit_.clear();
      has_help_ = has_samples_ = false;
      if (type_ != "counter" && type_ != "gauge" && type_ != "info") fail("a type: " + type_);
      if (type_ == "counter" && name.ends_with("_total")) fail("_total in a family's name");
      return;
    }
    if (name != family_ || has_samples_) fail(std::string(what) + " at another place");
    if (what == "UNIT") {
      if (!unit_.empty() || line.empty()) fail("a unit");
      unit_ = line;
      if (!name.ends_with("_" + unit_)) fail("the name does not end with its unit " + unit_);
    } else if (what == "HELP") {
      if (has_help_ || line.empty()) fail("a help");
      has_help_ = true;
    } else {
      fail("what is " + std::string(what));
    }
  }

  void sample(std::string_view line) {
    const std::size_t open = line.find('{');
    if (open == line.npos) fail("no labels");
    const std::string name(line.substr(0, open));
    const std::string expected = family_ + (type_ == "counter" ? "_total"
                                            : type_ == "info"  ? "_info"
                                                               : "");
    if (family_.empty() || name != expected) fail(name + " in the family " + family_);
    std::string_view rest = line.substr(open + 1);
    labels(rest);
    const std::string key(line.substr(0, line.size() - rest.size()));
    if (rest.size() < 2 || rest[0] != ' ') fail("no value");
    std::size_t used = 0;
    const std::string text(rest.substr(1));
    const double value = std::stod(text, &used);
    if (used != text.size()) fail("behind the value: " + text.substr(used));
    if (type_ == "counter" && !(value >= 0)) fail("a counter below 0");
    if (type_ == "info" && value != 1) fail("an info that is not 1");
    if (!samples_.emplace(key, value).second) fail("the same sample twice");
    has_samples_ = true;
  }

  /// Takes the labels with the bracket that ends them.
  void labels(std::string_view& rest) const {
    std::set<std::string> names;
    for (;;) {
      const std::size_t equals = rest.find('=');
      if (equals == rest.npos) fail("a label without a value");
      const std::string name(rest.substr(0, equals));
      if (!is_name(name) || !names.insert(name).second) fail("a label: " + name);
      rest.remove_prefix(equals + 1);
      if (rest.empty() || rest[0] != '"') fail("a label's value without quotation marks");
      rest.remove_prefix(1);
      for (;; rest.remove_prefix(1)) {
        if (rest.empty()) fail("a label's value without an end");
        if (rest[0] == '"') break;
        if (rest[0] != '\\') continue;
        rest.remove_prefix(1);
        if (rest.empty() || std::string_view("\\\"n").find(rest[0]) == std::string_view::npos)
          fail("an escape");
      }
      rest.remove_prefix(1);
      if (rest.starts_with('}')) return rest.remove_prefix(1);
      if (!rest.starts_with(',')) fail("between labels");
      rest.remove_prefix(1);
    }
  }

  std::size_t number_ = 0;
  std::string family_, type_, unit_;
  bool has_help_ = false, has_samples_ = false;
  std::set<std::string> seen_;
  std::map<std::string, double> samples_;
};

}  // namespace weft::tests
