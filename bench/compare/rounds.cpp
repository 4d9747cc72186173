// SPDX-License-Identifier: Apache-2.0
#include "compare/rounds.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "output/stats.hpp"
#include "support/spinners.hpp"

namespace weft::bench {
namespace {

/// One line on stderr that is overwritten on a terminal, and one line a round elsewhere.
class progress_line {
 public:
  ~progress_line() { clear(); }

  void show(const std::string& text, bool starts_round) {
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{}", text);
      std::fflush(stderr);
      shown_ = true;
    } else if (starts_round) {
      fmt::print(stderr, "{}\n", text);
    }
  }
  /// For a message that stays.
  void say(const std::string& text) {
    clear();
    fmt::print(stderr, "{}\n", text);
  }

 private:
  void clear() {
    if (std::exchange(shown_, false)) fmt::print(stderr, "\r\033[K");
  }

  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

std::vector<double> without_gaps(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values;
}

}  // namespace

void results::add(const cell& where, const std::string& contestant, std::size_t round, json line) {
  if (std::find(cells_.begin(), cells_.end(), where) == cells_.end()) cells_.push_back(where);
  auto& rounds = lines_[{where, contestant}];
  if (rounds.size() <= round) rounds.resize(round + 1);
  rounds[round] = std::move(line);
}

std::vector<double> results::rounds_of(const cell& where, const std::string& contestant,
                                       const std::string& metric) const {
  std::vector<double> values;
  const auto found = lines_.find({where, contestant});
  if (found == lines_.end()) return values;
  for (const auto& line : found->second) {
    const bool there = line.is_object() && line.contains(metric) && line[metric].is_number();
    values.push_back(there ? line[metric].get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

std::optional<double> results::median_of(const cell& where, const std::string& contestant,
                                         const std::string& metric) const {
  auto values = without_gaps(rounds_of(where, contestant, metric));
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

json results::sample_line(const cell& where, const std::string& contestant) const {
  const auto found = lines_.find({where, contestant});
  if (found == lines_.end()) return {};
  const auto line = std::find_if(found->second.begin(), found->second.end(),
                                 [](const json& one) { return one.is_object(); });
  return line == found->second.end() ? json{} : *line;
}

std::optional<ratio> paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  auto ratios = without_gaps(paired_ratios(a, b));
  if (ratios.empty()) return std::nullopt;
  const auto all = summarise(std::move(ratios));
  return ratio{all.p50, all.p10, all.p90};
}

results run_rounds(const std::vector<series>& all, const std::vector<contestant>& contestants) {
  results measured;
  progress_line progress;
  std::set<std::string> worked;
  std::set<std::string> given_up;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto& one = all[s];
    std::set<std::string> left_out = given_up;
    const spinners company(one.spinners);
    for (int round = 0; round < one.rounds; ++round) {
      bool starts_round = true;
      for (const auto& who : contestants) {
        if (left_out.contains(who.name) || !who.takes_part(one.what)) continue;
        progress.show(fmt::format("[{}/{}] {}: round {} of {}, {}", s + 1, all.size(), one.name,
                                  round + 1, one.rounds, who.name),
                      std::exchange(starts_round, false));
        try {
          for (auto& line : who.run(one.what)) {
            const cell where{one.name, line.value("pattern", std::string()),
                             line.value("size", std::size_t{0})};
            measured.add(where, who.name, static_cast<std::size_t>(round), std::move(line));
          }
          worked.insert(who.name);
        } catch (const std::exception& error) {
          left_out.insert(who.name);
          const bool never = !worked.contains(who.name);
          if (never) given_up.insert(who.name);
          failure what{who.name, never ? std::string("the comparison") : one.name, error.what(),
                       dynamic_cast<const wrong_answer*>(&error) != nullptr};
          progress.say(
              fmt::format("{} is left out of {}: {}", what.contestant, what.of, what.reason));
          measured.add_failure(std::move(what));
        }
      }
    }
  }
  return measured;
}

}  // namespace weft::bench
