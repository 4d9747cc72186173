// SPDX-License-Identifier: Apache-2.0
// What a seed plays in: the contexts of the attacker, and what it knows.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guise.hpp"
#include "runtime/fd.hpp"

namespace hostile {

/// Everything of one seed. Destroyed when it ends: then nothing of the attacker is left.
class scene {
 public:
  scene(board& on, const settings& s, std::uint64_t seed);

  /// Plays the seed. \return false: this process is to end now, from one moment to the next
  bool play();
  /// Comes and leaves as a correct peer does: whatever the victim allocates once is there then.
  void play_tame();

  // For acts:
  board& on() noexcept { return board_; }
  const settings& asked() const noexcept { return settings_; }
  template <class... Args>
  void say(fmt::format_string<Args...> form, Args&&... args) {
    if (settings_.trace) print(fmt::format(form, std::forward<Args>(args)...));
  }

  /// One of the contexts that has met the victim; null: none has.
  guise* somebody(dice& d);
  /// One of its ways on which frames can be sent; null: none.
  static tie* some_way(guise& g, dice& d);
  /// Comes with such a private data, over whatever the dice say. \return null: it was not let in
  guise* enter(dice& d, const std::string& private_data);

  /// Looks at what comes, until nothing has for a moment.
  void look();
  /// The same for so long.
  void wait(std::chrono::microseconds how_long);

  std::vector<std::unique_ptr<guise>> guises;
  std::deque<std::pair<frame_header, frame_extension>> sent;  ///< to be replayed
  std::vector<weft::runtime::unique_fd> sockets;              ///< raw ones, until the end
  weft::wireup::identity victim;                              ///< once somebody has met it
  bool dies = false;                                          ///< without a word, at the end

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

/// The attacker's process: seed after seed, as the oracle allows.
int be_attacker(board& on, const settings& s);

}  // namespace hostile
