// SPDX-License-Identifier: Apache-2.0
// The interface to one transport's way to one peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/message.hpp>
#include <weft/transport/frame.hpp>
#include <weft/transport/traits.hpp>
#include <weft/transport/wireup_message.hpp>

namespace weft::transports {

/// Where a peer's memory is, for one-sided access; travels in 64 bits.
struct remote_address {
  std::uint16_t region =
      0;  ///< which region of shared memory or of a device; 0: the peer's address space
  std::uint64_t offset = 0;  ///< within the region, or the address; 48 bits

  constexpr std::uint64_t packed() const noexcept { return std::uint64_t{region} << 48 | offset; }
  static constexpr remote_address unpack(std::uint64_t w) noexcept {
    return {static_cast<std::uint16_t>(w >> 48), w & offset_bits};
  }
  /// So many bytes further, or before. Offsets wrap around.
  constexpr remote_address after(std::uint64_t n) const noexcept {
    return {region, (offset + n) & offset_bits};
  }
  constexpr remote_address before(std::uint64_t n) const noexcept {
    return {region, (offset - n) & offset_bits};
  }

  static constexpr std::uint64_t offset_bits = (std::uint64_t{1} << 48) - 1;
};

/// Memory of a peer that can be read in place.
struct peer_view {
  const std::byte* at = nullptr;  ///< null: it cannot be read
  /// Keeps the memory readable, on any thread and also without the link and its transport. The
  /// pointer is valid until the next call of the transport; equal memory has equal owners.
  const std::shared_ptr<const void>* keeps = nullptr;
};

/// Whether a transport had better do something.
enum class preference : std::uint8_t {
  no,
  measured,  ///< it depends on the machine: the protocol measures, and decides
  yes
};

/// How a posting call ended.
enum class post : std::uint8_t {
  done,    ///< taken; its memory may be used again
  posted,  ///< taken; its memory must stay as it is: that of a frame until link::holds() is false,
           ///< that of a get or put until frame_sink::on_transferred
  busy,    ///< not taken for want of space; try again after frame_sink::on_writable
  failed   ///< not taken; the peer is gone, or the link cannot do it
};

/// The way out to one peer by one transport. Owned by the peer's state in the protocol layer;
/// destroyed with the progress lock held. Every function is called with the progress lock held.
class link {
 public:
  /// \param t traits of its transport; must outlive the link
  explicit link(const transports::traits& t) noexcept : traits_(t) {}
  virtual ~link() = default;
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  const transports::traits& traits() const noexcept { return traits_; }

  /// The counterpart's answer to the offer. Until then nothing may be sent.
  /// \return empty, or why it does not work
  virtual std::string opened(wireup_message answer) = 0;

  /// Posts one frame. header.size bytes are taken from `data`, which moves on by as many when the
  /// result is `done` and stays where it is otherwise. header.size <= traits().max_payload. Frames
  /// arrive in the order of posting.
  virtual post send(const frame_header& header, const frame_extension* extension,
                    gather& data) noexcept = 0;

  /// As `send`, for a frame whose header.size bytes are contiguous at `data`, as in most messages.
  /// A transport overrides it if it has a faster way. The header comes by value, in two registers:
  /// written to memory byte by byte and read as words it would cost a stall.
  virtual post send_contiguous(frame_header header, const frame_extension* extension,
                               const std::byte* data) noexcept;

  /// As `send`, for memory that need not be free again at once.
  /// \param header    as send
  /// \param extension as send
  /// \param data      as send
  /// \param left bytes of the message that have not left yet, those of this frame included; for an
  ///   announcement, the bytes that it announces
  /// \return also `posted`: the bytes are taken, `data` has moved on, and the link reads them
  ///   later. While it holds memory the link may refuse other frames; on_writable tells when it
  ///   holds none.
  virtual post send_large(const frame_header& header, const frame_extension* extension,
                          gather& data, std::uint64_t left) noexcept {
    static_cast<void>(left);
    return send(header, extension, data);
  }

  /// Whether memory of a frame that was `posted` is still needed.
  virtual bool holds() const noexcept { return false; }
  /// As `holds`, for frames with that `a` in their extension; a link that does not distinguish them
  /// answers for all frames.
  virtual bool holds_for(std::uint64_t a) const noexcept {
    static_cast<void>(a);
    return holds();
  }

  /// Returns the memory of every operation to the application: copies what the link still holds,
  /// ends each `get` and `put` under way without a call of the frame sink, and withdraws all memory
  /// that was made ready for the peer. From now on every `get` and `put` of the peer fails, also
  /// one that is under way.
  virtual void let_go() noexcept {}

  /// Reads `size` bytes of the peer's memory without its help.
  /// \param into   at least `size` bytes
  /// \param from   as the peer's `expose` named it, or within that memory
  /// \param size   bytes
  /// \param cookie handed to frame_sink::on_transferred when the answer is `posted`
  /// \return done: the data is there; posted: it will be, `into` belongs to the link until
  ///   on_transferred; busy: as with send; failed: the link cannot read there, or the peer has
  ///   withdrawn the memory meanwhile, and the protocol asks the peer for the data instead
  virtual post get([[maybe_unused]] scatter into, [[maybe_unused]] remote_address from,
                   [[maybe_unused]] std::size_t size,
                   [[maybe_unused]] std::uint64_t cookie) noexcept {
    return post::failed;
  }

  /// Whether `get` from there is better than asking for the data, in the present state.
  virtual preference prefers_get([[maybe_unused]] remote_address from,
                                 [[maybe_unused]] std::size_t size) const noexcept {
    return preference::no;
  }

  /// The same memory in place, without a copy. What it costs does not depend on `size` in the
  /// steady state. The peer may write there at any time, but it cannot take the memory away. \param
  /// from as in `get` \param size bytes
  virtual peer_view view([[maybe_unused]] remote_address from,
                         [[maybe_unused]] std::size_t size) noexcept {
    return {};
  }

  /// The place where the peer's `get` can find `data`; nothing: the link cannot make one. The
  /// memory stays as it is until `withdraw` or `let_go`. The peer may read any part of it: offsets
  /// add up.
  virtual std::optional<remote_address> expose([[maybe_unused]] const_buffer data) noexcept {
    return {};
  }

  /// The other direction: writes into memory that the peer made ready by `expect`. Frames that are
  /// sent later arrive after the written bytes. Same results as `get`; `data` belongs to the link
  /// while the put is `posted`.
  virtual post put([[maybe_unused]] gather data, [[maybe_unused]] remote_address to,
                   [[maybe_unused]] std::size_t size,
                   [[maybe_unused]] std::uint64_t cookie) noexcept {
    return post::failed;
  }

  /// The place where the peer's `put` can write; nothing: the link cannot make one. Valid as long
  /// as with `expose`.
  virtual std::optional<remote_address> expect([[maybe_unused]] mutable_buffer into) noexcept {
    return {};
  }

  /// Whether a message of that size is better written by `put` than sent in frames, in the present
  /// state. Both sides ask: if so, the sender does not expose the message, and the receiver expects
  /// it.
  virtual bool prefers_put([[maybe_unused]] std::size_t size) const noexcept { return false; }

  /// How many bytes of a message of that size, above the eager limit, go with its request at most,
  /// if the user has not chosen: fewer where the link moves the rest better than frames do.
  virtual std::size_t longest_beginning([[maybe_unused]] std::size_t size) const noexcept {
    return ~std::size_t{0};
  }

  /// For a `get` or `put` that was `posted` just now: sends that frame, which has no payload, as
  /// soon as the copy has ended well, without a step of this process in between.
  /// frame_sink::on_chained tells that it has left; if there was no room for it, only
  /// on_transferred comes.
  /// \return false: the link does not do that
  virtual bool chain([[maybe_unused]] std::uint64_t cookie,
                     [[maybe_unused]] const frame_header& header,
                     [[maybe_unused]] const frame_extension& extension) noexcept {
    return false;
  }

  /// The memory that `expose` or `expect` made ready is not needed any more. Called once for each,
  /// unless let_go comes first. A correct peer has nothing under way there.
  /// \param what as `expose` or `expect` returned it
  virtual void withdraw([[maybe_unused]] remote_address what) noexcept {}

  /// Passes a descriptor to the peer's process: frame_sink::on_descriptor there. It goes beside the
  /// frames, in no order with them.
  /// \param file a duplicate is passed
  /// \param what says what it is for; the protocol's
  /// \return false: the link reaches no descriptor table but this one, or none is left
  virtual bool pass([[maybe_unused]] const unique_fd& file,
                    [[maybe_unused]] std::uint32_t what) noexcept {
    return false;
  }

  /// True while frames that the link has taken still need this process to go on their way: they
  /// would be lost with it.
  virtual bool unwritten() const noexcept { return false; }

  /// True while the peer has not yet read everything that was sent.
  virtual bool unconsumed() const noexcept = 0;

  /// Wakes the peer's progress if no thread polls there: after frames that need a reaction.
  /// \return whether a bell was rung
  virtual bool wake_peer() noexcept { return false; }

  /// Whether the peer's progress thread may have something to do at the end of an operation, while
  /// the peer's application computes: if not, a frame that only ends one need not wake it.
  virtual bool acts_on_ends() const noexcept { return true; }

  /// Why the peer could not be reached or was lost, and the cure, for people; called from within
  /// frame_sink::on_broken. Empty: no more is known than the error code says.
  virtual std::string trouble() const { return {}; }

 private:
  const transports::traits& traits_;
};

}  // namespace weft::transports
