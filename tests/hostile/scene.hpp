// SPDX-License-Identifier: Apache-2.0
// The setting of one seed: the contexts of the attacker, and what it knows.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guise.hpp"
#include "runtime/descriptors/fd.hpp"

namespace hostile {

/// Everything of one seed. Its destructor removes everything of the attacker.
class scene {
 public:
  scene(board& on, const settings& s, std::uint64_t seed);

  /// Plays the seed. \return false: this process is to end now, without closing anything
  bool play();
  /// Connects and leaves as a correct peer does: afterwards the victim has made all allocations
  /// that it makes once.
  void play_tame();

  // For acts:
  board& on() noexcept { return board_; }
  const settings& asked() const noexcept { return settings_; }
  template <class... Args>
  void say(fmt::format_string<Args...> form, Args&&... args) {
    if (settings_.trace) print(fmt::format(form, std::forward<Args>(args)...));
  }

  /// One of the contexts that are connected to the victim; null: none is.
  guise* any_guise(dice& d);
  /// One of its links on which frames can be sent; null: none.
  static tie* some_way(guise& g, dice& d);
  /// Connects with that private data, independent of the dice. \return null: refused
  guise* enter(dice& d, const std::string& private_data);

  /// Processes what comes, until nothing has come for a moment.
  void look();
  /// Processes what comes, for that time.
  void wait(std::chrono::microseconds how_long);

  std::vector<std::unique_ptr<guise>> guises;
  std::deque<std::pair<frame_header, frame_extension>> sent;  ///< to be replayed
  std::vector<weft::unique_fd> sockets;                       ///< raw ones, until the end
  weft::wireup::identity victim;  ///< set when a context has connected to it
  bool dies = false;              ///< at the end, without closing anything

 private:
  void print(const std::string& line) const;
  void use_all_credit();
  void come_well(dice& d);
  bool all_are_cut_off() const;
  void begin(dice d);
  void end(dice d);

  board& board_;
  const settings& settings_;
  const std::uint64_t seed_;
  const dice dice_;
};

/// Tame visits before the first seed.
inline constexpr std::uint64_t warm_ups = 16;

/// The attacker's process: plays one seed after the other, as the oracle allows.
int be_attacker(board& on, const settings& s);

}  // namespace hostile
