// SPDX-License-Identifier: Apache-2.0
// The interface that every transport implements, in two classes: transport and link.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/error.hpp>
#include <weft/message.hpp>
#include <weft/metrics.hpp>

#include "runtime/pollable.hpp"
#include "transports/wireup_message.hpp"

namespace weft::transports {

/// First 16 bytes of every frame, on every transport. `kind` and `flags` belong to the protocol
/// layer, except for the two that say what follows. docs/wire-format.md.
struct frame_header {
  std::uint64_t tag = 0;
  std::uint32_t size = 0;  ///< bytes of payload in this frame
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t credit = 0;  ///< eager credit returned, in units of 64 bytes
};
static_assert(sizeof(frame_header) == 16);

// In frame_header::flags.
inline constexpr std::uint8_t has_extension = 0x80;  ///< a and b of the extension follow
inline constexpr std::uint8_t has_immediate = 0x40;  ///< then its third word, too

/// More room for headers of protocol frames; the meaning of a and b depends on `kind`.
struct frame_extension {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t immediate = 0;  ///< the sender's word beside the tag; 0 where it does not travel
};
static_assert(sizeof(frame_extension) == 24);

/// How much of the extension travels with a frame. Bytes.
constexpr std::size_t extension_size(const frame_header& h) noexcept {
  if ((h.flags & has_extension) == 0) return 0;
  return (h.flags & has_immediate) == 0 ? 2 * sizeof(std::uint64_t) : sizeof(frame_extension);
}

/// What a frame's receiver is given: `x`, if the frame has an extension.
constexpr const frame_extension* extension_of(const frame_header& h,
                                              const frame_extension& x) noexcept {
  return (h.flags & has_extension) != 0 ? &x : nullptr;
}

/// Walks over the pieces of a message. A value; the pieces belong to the operation.
template <class Buffer>
class cursor {
 public:
  cursor() = default;
  explicit cursor(std::span<const Buffer> parts, std::size_t offset = 0) noexcept
      : part_(parts.data()), end_(parts.data() + parts.size()) {
    skip(offset);
  }

  /// The longest contiguous run from here, at most n bytes.
  Buffer run(std::size_t n) const noexcept {
    return part_ == end_ ? Buffer{} : part_->subspan(offset_, std::min(n, part_->size() - offset_));
  }
  void skip(std::size_t n) noexcept {
    while (part_ != end_ && n >= part_->size() - offset_) {
      n -= part_->size() - offset_;
      ++part_;
      offset_ = 0;
    }
    offset_ += part_ == end_ ? 0 : n;
  }

 private:
  const Buffer* part_ = nullptr;
  const Buffer* end_ = nullptr;
  std::size_t offset_ = 0;
};

using gather = cursor<const_buffer>;
using scatter = cursor<mutable_buffer>;

/// Where a peer's memory is, for one-sided access; travels in 64 bits.
struct remote_address {
  std::uint16_t region = 0;  ///< which region of the peer's allocator; 0: its plain address space
  std::uint64_t offset = 0;  ///< within the region, or the address; 48 bits

  constexpr std::uint64_t packed() const noexcept { return std::uint64_t{region} << 48 | offset; }
  static constexpr remote_address unpack(std::uint64_t w) noexcept {
    return {static_cast<std::uint16_t>(w >> 48), w & ((std::uint64_t{1} << 48) - 1)};
  }
};

/// How a posting call ended.
enum class post : std::uint8_t {
  done,    ///< taken; its memory may be used again
  posted,  ///< taken; its memory must stay as it is until link::holds() is false
  busy,    ///< not taken for want of room; try again when the link says so
  failed   ///< not taken; the peer is gone or cannot do it (error in the operation's status)
};

/// The protocol layer's side of a peer: what arrives from it is told here. Called with the progress
/// lock held, from within transport::poll or transport::forget, and never after forget. Not from
/// within link::send: whoever sends is in the middle of the peer's state.
class frame_sink {
 public:
  /// Where the payload of a frame that is about to arrive may be written, so that nobody has to
  /// copy it. Asked anew before each piece of it is read, since the receive may end in between.
  /// \param already how many bytes of the payload lie where this said before
  /// \return memory for the next ones, at most the rest of the frame, valid until the transport
  ///   returns to its caller; empty: nowhere. Then the payload goes to on_frame, or, if it was
  ///   nowhere only after some bytes, the rest of it is dropped. Once it was somewhere the frame is
  ///   the next one to be taken of what it belongs to: another one is an error.
  virtual mutable_buffer place([[maybe_unused]] const frame_header& header,
                               [[maybe_unused]] const frame_extension* extension,
                               [[maybe_unused]] std::uint32_t already) noexcept {
    return {};
  }

  /// A frame arrived, in order. `payload` (header.size bytes) is valid during the call only; null
  /// if it lies where `place` said.
  /// \param extension null unless the header says that there is one
  /// \return false: the frame makes no sense; the transport stops reading from this peer
  virtual bool on_frame(const frame_header& header, const frame_extension* extension,
                        const std::byte* payload) noexcept = 0;

  /// The size of a message that has begun to arrive and whose next frames come without any more
  /// being done here: the one that is beginning, else one whose rest was asked for. 0: none.
  virtual std::uint64_t under_way() const noexcept { return 0; }

  /// A `get` or `put` that was `posted` has ended; its memory is the caller's again. Once for each,
  /// and not after link::let_go.
  /// \param well false: it failed, and what it should have written is undefined
  virtual void on_transferred([[maybe_unused]] std::uint64_t cookie,
                              [[maybe_unused]] bool well) noexcept {}

  /// The frame that was chained to a `get` or `put` has left. on_transferred follows, before
  /// whatever the peer sends in answer.
  virtual void on_chained([[maybe_unused]] std::uint64_t cookie) noexcept {}

  /// There is room again after `busy`.
  virtual void on_writable() noexcept = 0;

  /// The peer broke the rules of the transport or died; nothing more will arrive. Ends every
  /// operation with that peer and runs their protocols, so a link that finds its peer broken while
  /// it sends answers post::failed, and the next poll tells.
  virtual void on_broken(errc why) noexcept = 0;

 protected:
  ~frame_sink() = default;
};

/// What the protocol layer needs to know of a transport.
struct traits {
  std::string_view name;
  std::uint32_t max_payload = 0;  ///< bytes in one frame, at most
  std::uint32_t fragment = 0;     ///< bytes in one frame, best for long messages

  /// Bytes in the first frame of a long message: small where sender and receiver copy at the same
  /// time, so that the receiver begins early.
  std::uint32_t first_piece = 8 * 1024;

  /// What goes without being asked for and is longer follows a frame of its own that announces it:
  /// its receiver knows then where the bytes belong before they come. The announcement is empty and
  /// goes by send_large, which never answers `posted` to it; what it announces is posted next, in
  /// the same call. 0: never.
  std::uint32_t announced_beyond = 0;

  /// How many links to one peer are to be had at once, each with a frame sink of its own.
  std::uint32_t links = 1;

  /// Its offers carry descriptors: only peers on this kernel, whom a Unix socket reaches, can be
  /// had.
  bool shares_memory = false;

  /// What is sent after a `put` does not arrive if the put fails: so what tells of the put need not
  /// wait for its end. If the peer has not left in good order by then, frame_sink::on_broken
  /// follows.
  bool fails_in_order = false;

  /// The beginning of a long message had better go with its request, where nobody says otherwise.
  bool prefers_eager_data = true;

  /// What tells of a `get` or `put` had better be chained to it, where nobody says otherwise.
  bool chains_fin = false;
};

/// One transport's way out to one peer. Owned by the peer's state in the protocol layer; destroyed
/// with the progress lock held. Every function is called with the progress lock held.
class link {
 public:
  /// \param t of its transport; must outlive it
  explicit link(const transports::traits& t) noexcept : traits_(t) {}
  virtual ~link() = default;
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  const transports::traits& traits() const noexcept { return traits_; }

  /// The counterpart's answer to the offer. Until then nothing may be sent.
  /// \return empty, or why it does not work
  virtual std::string opened(wireup_message answer) = 0;

  /// Posts one frame: header.size bytes are taken from `data`, which moves on by as many when the
  /// answer is `done` and stays where it is otherwise. header.size <= traits().max_payload.
  /// Frames arrive in the order of posting.
  virtual post send(const frame_header& header, const frame_extension* extension,
                    gather& data) noexcept = 0;

  /// The same for a frame whose header.size bytes lie together at `data`: what most messages are. A
  /// transport overrides it if it can do better. The header comes by value, in two registers:
  /// written to memory byte by byte and read as words it would cost a stall.
  virtual post send_contiguous(frame_header header, const frame_extension* extension,
                               const std::byte* data) noexcept {
    const const_buffer one(data, header.size);
    gather pieces({&one, 1});
    return send(header, extension, pieces);
  }

  /// As `send`, for memory that need not be free again at once.
  /// \param left bytes of the message that have not left yet, this frame's among them; of an
  ///   announcement, those that it announces
  /// \return also `posted`: the bytes are taken, `data` has moved on, and the link reads them
  /// later.
  ///   While it holds memory it may take no other frame; on_writable tells when it holds none.
  virtual post send_large(const frame_header& header, const frame_extension* extension,
                          gather& data, std::uint64_t left) noexcept {
    static_cast<void>(left);
    return send(header, extension, data);
  }

  /// Whether memory of a frame that was `posted` is still needed.
  virtual bool holds() const noexcept { return false; }
  /// The same for frames whose extension has that `a`; a link that does not tell them apart says it
  /// for all.
  virtual bool holds_for(std::uint64_t a) const noexcept {
    static_cast<void>(a);
    return holds();
  }

  /// The memory of every operation goes back to the application. Copies what it holds; ends what
  /// `get` and `put` have under way, without a word to the frame sink; and what was made ready for
  /// the peer is withdrawn: from now on every `get` and `put` of its fails, also one that is under
  /// way.
  virtual void let_go() noexcept {}

  /// Reads `size` bytes of the peer's memory without its help.
  /// \param cookie handed to frame_sink::on_transferred when the answer is `posted`
  /// \return done: it is there; posted: it will be, `into` is the link's until on_transferred;
  ///         busy: as with send; failed: it cannot, or the peer has withdrawn it meanwhile, and the
  ///         protocol falls back to asking for the data
  virtual post get(scatter into, remote_address from, std::size_t size,
                   std::uint64_t cookie) noexcept = 0;

  /// Whether `get` from there is better than asking for the data, as things are now.
  virtual bool prefers_get(remote_address from, std::size_t size) const noexcept = 0;

  /// Where the peer's `get` could find `data`; nothing: it could not. Until it is withdrawn, or
  /// let_go, the memory stays as it is. The peer may read any part of it: offsets add up.
  virtual std::optional<remote_address> expose(const_buffer data) noexcept = 0;

  /// The other direction: writes into memory that the peer made ready by `expect`. Frames that are
  /// sent later arrive after it. Same answers as `get`; `data` is the link's while it is `posted`.
  virtual post put([[maybe_unused]] gather data, [[maybe_unused]] remote_address to,
                   [[maybe_unused]] std::size_t size,
                   [[maybe_unused]] std::uint64_t cookie) noexcept {
    return post::failed;
  }

  /// Where the peer's `put` could write; nothing: it could not. As long as with `expose`.
  virtual std::optional<remote_address> expect([[maybe_unused]] mutable_buffer into) noexcept {
    return {};
  }

  /// Whether a message of that size had better be written by `put` than sent in frames, as things
  /// are now. Asked on both sides: its sender does not expose it then, and its receiver expects it.
  virtual bool prefers_put([[maybe_unused]] std::size_t size) const noexcept { return false; }

  /// For a `get` or `put` that was `posted` just now: that frame, which has no payload, leaves as
  /// soon as the copy has ended well, with nobody here in between. frame_sink::on_chained tells
  /// that it has; if it could not leave then, for want of room, only on_transferred comes. \return
  /// false: the link does not do that
  virtual bool chain([[maybe_unused]] std::uint64_t cookie,
                     [[maybe_unused]] const frame_header& header,
                     [[maybe_unused]] const frame_extension& extension) noexcept {
    return false;
  }

  /// What `expose` or `expect` made ready is not needed any more: told once for each, unless
  /// let_go comes first. The peer has nothing under way there, if it is a correct one.
  /// \param what as `expose` or `expect` returned it
  virtual void withdraw([[maybe_unused]] remote_address what) noexcept {}

  /// True while the peer has not yet seen everything that was sent.
  virtual bool unconsumed() const noexcept = 0;

  /// Wakes the peer's progress if nobody there looks: after frames that need a reaction.
  virtual void wake_peer() noexcept = 0;

  /// Why the peer could not be had or was lost, and the cure, for people; asked from within
  /// frame_sink::on_broken. Empty: no more is known than the code says.
  virtual std::string trouble() const { return {}; }

 private:
  const transports::traits& traits_;
};

/// HMAC-SHA256 by a secret that two processes share.
using signature = std::array<std::byte, 32>;

/// Who is at the other end, as the connection manager found out.
struct counterpart {
  pid_t pid = 0;                             ///< from the kernel, not from the peer
  std::function<void(wireup_message)> tell;  ///< sends a `note` to the counterpart's transport
  std::uint32_t link = 0;                    ///< which of the links to it, below traits::links
  /// Numeric addresses of where it is, as far as this process was told by others than this offer;
  /// none: on this host. What it offers to be reached at is compared with them.
  std::vector<std::string> hosts = {};
  /// Authenticates bytes to it, and to nobody else. Whoever comes another way shows by this that it
  /// is that peer. Does not throw; any thread.
  std::function<signature(std::span<const std::byte> bytes)> sign = {};
};

/// A way to move frames between contexts. One object per context and transport, made explicitly by
/// the context's factory list (no registry). Every function is called with the progress lock held
/// unless it says otherwise.
class transport : public runtime::pollable {
 public:
  virtual const transports::traits& traits() const noexcept = 0;

  /// Whether that peer may be reachable, as far as one can tell without trying.
  /// \return empty: yes; else why not, for people
  virtual std::string reach(bool is_self) const = 0;

  /// Makes a link to a peer and the offer for its counterpart there.
  /// \param from the peer, by which the transport knows the pair in both directions
  /// \throws weft::error when descriptors or memory run out
  virtual std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                                     wireup_message& offer) = 0;

  /// The other side of `open`: takes a peer's offer, delivers what comes in to `to` from now on,
  /// and fills the answer. \return empty, or why the offer is refused (checked, never trusted)
  virtual std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                             wireup_message& answer) = 0;

  /// Something else that the counterpart sent by `counterpart::tell` (a region's descriptor).
  virtual void note([[maybe_unused]] frame_sink& from, [[maybe_unused]] wireup_message p) {}

  /// For a peer that is going: delivers some of what has arrived from it, and writes some of what
  /// is left for it, in bounded work, without waiting. Whoever wants all of it to arrive asks again
  /// and again before `forget`, for as long as it likes to, and releases the progress lock in
  /// between. \return whether nothing more is to be expected
  virtual bool drain_peer([[maybe_unused]] frame_sink& from) noexcept { return true; }

  /// Stops listening to that peer, after what has arrived, as far as that is bounded work.
  virtual void forget(frame_sink& from) noexcept = 0;

  /// That memory of this process is about to be unmapped, or to become another's: what was kept
  /// about it (registrations) is not used any more. Nothing is under way there.
  virtual void invalidate_registrations(
      [[maybe_unused]] std::span<const std::byte> memory) noexcept {}

  /// Adds what it counts.
  virtual void add_to([[maybe_unused]] metrics& m) const noexcept {}

  /// One line for people: what was chosen and which fall-backs are in use.
  virtual std::string describe() const = 0;

  /// The same for one peer.
  virtual std::string describe(const frame_sink& peer) const = 0;
};

}  // namespace weft::transports
