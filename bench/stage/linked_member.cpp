// SPDX-License-Identifier: Apache-2.0
#include "stage/linked_member.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace weft::bench {
namespace {

constexpr tag link_tag{1};

task<std::vector<std::byte>> swap_with(endpoint other, std::span<const std::byte> mine) {
  scope out;
  out.start(other.send(mine, link_tag));
  auto theirs = co_await other.recv_value<std::vector<std::byte>>(
      link_tag, at_most{pair_member::longest_exchange});
  co_await out.join();
  co_return theirs;
}

}  // namespace

options options_of_link() {
  options result = options::from_environment();
  result.transports = {"self", "shm", "tcp"};
  result.progress = progress_mode::polling;
  result.trace_file.clear();
  return result;
}

std::vector<std::byte> linked_member::exchange(std::span<const std::byte> mine) {
  if (mine.size() > longest_exchange)
    throw std::length_error(fmt::format("{} bytes are too many for an exchange", mine.size()));
  return run(link_, swap_with(other_, mine));
}

void run_linked(linked_member& self, const settings& chosen,
                const std::function<void(pair_member&)>& body) try {
  self.barrier();
  body(self);
  self.barrier();
} catch (const error& e) {
  if (e.kind() != errc::unreachable) throw;
  throw std::runtime_error(fmt::format(
      "--transport {} does not reach the other side; tcp and verbs reach other hosts: {}",
      chosen.transport, e.what()));
}

}  // namespace weft::bench
