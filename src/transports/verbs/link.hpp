// SPDX-License-Identifier: Apache-2.0
// The sending end of a connection.
#pragma once

#include <optional>

#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

class pair;

/// Each frame is one send, and each piece of memory one read or write of the device. Owned by the
/// protocol layer's peer; the pair outlives it. Progress lock held only.
class send_link final : public link {
 public:
  explicit send_link(pair& with) noexcept;
  ~send_link() override;

  std::string opened(wireup_message answer) override;
  post send(const frame_header& header, const frame_extension* extension,
            gather& data) noexcept override;
  post send_contiguous(frame_header header, const frame_extension* extension,
                       const std::byte* data) noexcept override;

  post get(scatter into, remote_address from, std::size_t size,
           std::uint64_t cookie) noexcept override;
  preference prefers_get(remote_address from, std::size_t size) const noexcept override;
  std::optional<remote_address> expose(const_buffer data) noexcept override;
  post put(gather data, remote_address to, std::size_t size,
           std::uint64_t cookie) noexcept override;
  bool prefers_put(std::size_t size) const noexcept override;
  std::optional<remote_address> expect(mutable_buffer into) noexcept override;
  void withdraw(remote_address what) noexcept override;
  void let_go() noexcept override;
  std::string trouble() const override;

  // A frame that arrives at a sleeping peer wakes it, by an interrupt.
  bool unconsumed() const noexcept override { return false; }

 private:
  pair& pair_;
};

}  // namespace weft::transports::verbs
