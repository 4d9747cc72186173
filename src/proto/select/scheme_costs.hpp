// SPDX-License-Identifier: Apache-2.0
// What the payload schemes cost on this machine, as measured.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/select/select.hpp"

namespace weft::proto {

/// Costs of frames and of get by one transport, for each class of message sizes (powers of two), in
/// nanoseconds per KiB. A transport leaves the choice to measurement where neither scheme is better
/// on every machine (transports::preference::measured). A value; progress lock held only.
///
/// The choice is made for a run of payloads at a time, and a run gives one sample: payloads that
/// are under way together end in bunches, so that the time of a single one says little. Each scheme
/// is tried in a few runs for each class; then the cheaper one is used, and the other one tried
/// again now and then: the machine may have been busy. A trial whose first payload takes more than
/// twice the time of the cheaper scheme ends with that payload.
class scheme_costs {
 public:
  /// \param bytes of the message \param under_way payloads of the peer, this one not among them
  /// \return frames or get
  payload_scheme choose(std::uint64_t bytes, std::size_t under_way = 0) noexcept;

  /// A payload has crossed. \param bytes of the message \param counted of these, those that crossed
  /// in that time \param took since its beginning, or since the end of the one before it
  /// if that came later
  void note(payload_scheme how, std::uint64_t bytes, std::uint64_t counted,
            std::chrono::nanoseconds took) noexcept;

  /// A receiver has answered a rendezvous of this side: it gets the payload itself, or has asked
  /// for frames.
  void note_answer(std::uint64_t bytes, bool gets) noexcept;
  /// Whether receivers get payloads of that size, mostly: then eager data would be copied twice for
  /// nothing.
  bool receivers_get(std::uint64_t bytes) const noexcept;

  /// \return nanoseconds per KiB; 0: not known yet
  double cost(payload_scheme how, std::uint64_t bytes) const noexcept;

 private:
  static constexpr std::uint32_t payloads_per_run = 4;
  static constexpr std::uint32_t runs_before_use = 2;  // of each scheme
  // So many runs lie between two trials of the dearer scheme, if it is not much dearer, and if it
  // is.
  static constexpr std::uint32_t runs_between_close = 12, runs_between_far = 64;

  static constexpr std::size_t size_classes = 10;  // up to 32 KiB, 64 KiB ... 8 MiB, and all above
  static constexpr std::uint32_t most_answers = 8;

  struct measured {
    float per_kib = 0;           // 0: not known
    std::uint32_t runs = 0;      // that were chosen
    std::uint32_t payloads = 0;  // of the sample that is being taken
    double kib = 0, ns = 0;      // of these
  };
  struct size_class {
    measured frames, get;
    std::uint32_t runs = 0;
    std::uint32_t left = 0;   // choices of this run
    std::uint32_t mixed = 0;  // payloads of the run before that may still be under way
    bool gets = false;        // the scheme of this run
    bool alone = false;       // nothing else was under way when it began
    // Of the last answers those by get. At first as if all were: eager data would spoil the trials
    // of get.
    std::uint32_t answers = most_answers;
  };

  static std::size_t class_of(std::uint64_t bytes) noexcept;
  static bool next_run_gets(const size_class& c) noexcept;
  static bool is_known(const size_class& c) noexcept;
  static bool is_hopeless(const size_class& c) noexcept;
  void begin_as_neighbour(std::size_t index) noexcept;

  std::array<size_class, size_classes> classes_;
};

/// The costs of each transport that a context has measured. Progress lock held only.
class scheme_cost_table {
 public:
  /// \param transport its traits::name, which outlives this
  scheme_costs& of(std::string_view transport) noexcept;
  /// \return a line for each transport and size that was measured, for people
  std::string describe() const;

 private:
  static constexpr std::size_t most_transports = 4;  // that leave the choice to measurement
  struct entry {
    std::string_view transport;
    scheme_costs costs;
  };
  std::array<entry, most_transports> all_;
};

}  // namespace weft::proto
