// SPDX-License-Identifier: Apache-2.0
// A rank of a job that meets at rank 0, which is itself such a rank: what it says to rank 0's book,
// and what it has learned.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wireup/bootstrap/bootstrap_wire.hpp"

namespace weft::wireup {

/// Uses no sockets. On one thread, but for what the caller says otherwise.
class root_member {
 public:
  using found_handler = std::function<void(std::string locator)>;
  using ended_handler = std::function<void(peer_id rank, bool died)>;

  struct outcome {
    std::optional<root_welcome> welcome;  ///< nothing: this process is refused, or comes back
    std::optional<vacant_place> vacant;   ///< the rank was lost: the place that it may take
    std::string why;
    bool again = false;  ///< it may be welcome later
  };

  /// \param say sends a frame to rank 0 \param entered called once for each `greet`, with rank 0's
  /// answer
  root_member(root_hello who, std::function<void(frame)> say, std::function<void(outcome)> entered);

  /// Asks to enter. Again only after an answer that allows it.
  void greet();
  /// \return false: rank 0 does not speak this protocol
  bool on_frame(const frame& f);
  /// The connection to rank 0 has ended. \return whether it is missed: ranks can no longer be found
  bool on_lost();
  bool is_welcome() const noexcept { return welcomed_; }

  void publish(const std::string& locator);
  /// As job::find; `found` may be called before this returns.
  void find(peer_id rank, const found_handler& found);
  void tell_ends(ended_handler handler);
  /// Answers all that wait: nothing more will be learned. May be called again.
  void stop();

 private:
  bool learn(const directory_part& part);
  void learn_end(peer_id rank, bool died);
  void answer(peer_id rank);

  const root_hello who_;
  const std::function<void(frame)> say_;
  const std::function<void(outcome)> entered_;
  bool entering_ = false;
  bool welcomed_ = false;
  std::vector<std::string> directory_;  // from rank 0 on, as far as it is known
  std::map<peer_id, std::vector<found_handler>> waiting_;
  std::map<peer_id, bool> ends_;  // whether it died
  std::vector<ended_handler> handlers_;
  bool lost_ = false;
};

}  // namespace weft::wireup
