// SPDX-License-Identifier: Apache-2.0
#include "wireup/tcp/tcp_clients.hpp"

#include <algorithm>
#include <utility>

namespace weft::wireup {

void tcp_clients::start(loop& on, unique_fd client, tcp_answering::terms terms) {
  std::erase_if(all_, [](const auto& weak) { return weak.expired(); });
  if (all_.size() >= most_) {
    const auto shown = [](const auto& weak) {
      const auto one = weak.lock();
      return one ? one->shown() : tcp_answering::standing::silent;
    };
    const auto goes = std::ranges::min_element(all_, {}, shown);
    if (const auto one = goes->lock()) one->close();
    all_.erase(goes);
  }
  const auto answering = std::make_shared<tcp_answering>(on, std::move(client), std::move(terms));
  all_.push_back(answering);
  answering->start();
}

void tcp_clients::close_all() {
  for (const auto& weak : all_)
    if (const auto one = weak.lock()) one->close();
}

}  // namespace weft::wireup
