// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/silence_watch.hpp"

#include <utility>

#include "transports/tcp/socket.hpp"

namespace weft::transports::tcp {

bool silence_watch::look(int fd, bool waits, std::chrono::seconds limit,
                         std::chrono::milliseconds tick) noexcept {
  if (waits != std::exchange(watches_, waits))
    set_user_timeout(fd, waits ? std::chrono::seconds(0) : limit);
  // An answer may be on its way when this looks for it: it is overdue when it is missing in several
  // ticks in a row.
  const bool overdue = waits && silence(fd) > limit - time_to_answer;
  doubts_ = overdue ? doubts_ + 1 : 0;
  return doubts_ * tick >= time_to_answer;
}

}  // namespace weft::transports::tcp
