// SPDX-License-Identifier: Apache-2.0
// A device of libibverbs.
#pragma once

#include <memory>
#include <optional>

#include "transports/verbs/hardware/device.hpp"

namespace weft::transports::verbs {

/// Frees an object of libibverbs.
template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};

/// One port of a device, opened.
class hardware final : public device {
 public:
  /// \throws weft::error with the cause and the cure
  hardware(ibv_device& which, std::uint8_t port);

  /// Makes this the address of the port.
  void use(const ibv_gid_entry& address);
  /// Connects a queue pair to itself by the present address. \return empty, or why it does not work
  std::string try_itself();

  ibv_context& context() const noexcept { return *context_; }
  std::uint8_t port() const noexcept { return port_; }

  const place& here() const noexcept override { return here_; }
  const abilities& can() const noexcept override { return can_; }
  std::string describe() const override;
  std::unique_ptr<registration> enroll(std::span<std::byte> memory, std::uint64_t first,
                                       int access) override;
  std::unique_ptr<queue_pair> make_queue_pair() override;
  int post_receives(ibv_recv_wr& first, ibv_recv_wr** first_refused) noexcept override;
  std::size_t poll(std::span<ibv_wc> completions) noexcept override;
  int channel() const noexcept override { return channel_->fd; }
  bool arm() noexcept override;
  void drain_channel() noexcept override;
  int events() const noexcept override { return context_->async_fd; }
  std::optional<device_event> next_event() noexcept override;
  bool port_is_up() noexcept override;

 private:
  class connection;
  friend class connection;
  void make_room(std::uint32_t queue_pairs);

  sizes sizes_;
  std::unique_ptr<ibv_context, freed_by<&ibv_close_device>> context_;
  const std::string name_;
  const std::uint8_t port_;
  std::unique_ptr<ibv_pd, freed_by<&ibv_dealloc_pd>> domain_;
  std::unique_ptr<ibv_comp_channel, freed_by<&ibv_destroy_comp_channel>> channel_;
  std::unique_ptr<ibv_cq, freed_by<&ibv_destroy_cq>> completions_;
  std::unique_ptr<ibv_srq, freed_by<&ibv_destroy_srq>> receives_;
  place here_;
  std::uint8_t gid_index_ = 0;
  std::uint32_t gid_type_ = 0;
  abilities can_;
  std::uint32_t queue_pairs_ = 0;
};

}  // namespace weft::transports::verbs
