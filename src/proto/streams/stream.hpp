// SPDX-License-Identifier: Apache-2.0
// One end of a stream: a half that reads, a half that writes, and their common end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proto/messenger/stream_table.hpp"
#include "proto/peer/peer.hpp"
#include "proto/streams/stream_reader.hpp"
#include "proto/streams/stream_writer.hpp"

namespace weft::proto {

/// The reason for an operation without a stream.
inline constexpr const char* no_stream =
    "this stream is none: it was never opened, or has been moved from";

/// Owned by the application's handle and, once that has been dropped, by itself until the peer
/// knows.
class stream final : public std::enable_shared_from_this<stream> {
 public:
  using closed_operation = stream_closed_operation;

  /// Any thread. \throws weft::error (invalid_argument), std::bad_alloc
  static std::shared_ptr<stream> open(std::shared_ptr<proto::peer> with, std::uint32_t number,
                                      std::size_t window);
  /// The stream of an object. \param number the sender's \param way of the bytes written here:
  /// object_forth at the sender, object_back at the receiver
  /// \throws weft::error (protocol_error) if two objects have this number, std::bad_alloc
  static std::shared_ptr<stream> open_for_object(std::shared_ptr<proto::peer> with,
                                                 std::uint32_t number, stream_way way,
                                                 std::size_t window);
  /// \param way,back directions of the bytes that are written and read at this end
  stream(std::shared_ptr<proto::peer> with, std::uint32_t number, stream_way way, stream_way back,
         std::size_t window);

  // --- any thread -----------------------------------------------------------------------------

  proto::peer& with() const noexcept { return *with_; }
  runtime::engine& engine() const noexcept { return services_.engine; }
  std::uint32_t number() const noexcept { return number_; }

  /// The application has dropped its handle.
  void drop() noexcept;
  /// One sentence, for people, about a failure of this stream.
  std::string explain(errc status, const char* cause) const;

  // --- progress lock held -------------------------------------------------------------------

  stream_reader& reader() noexcept { return reader_; }
  stream_writer& writer() noexcept { return writer_; }

  void close() noexcept;
  bool start(closed_operation& op) noexcept;
  void cancel(closed_operation& op) noexcept;
  /// Called when an operation of a half has ended: it may have been the last one.
  void settle() noexcept;

 private:
  static std::shared_ptr<stream> make(std::shared_ptr<proto::peer> with, std::uint32_t number,
                                      stream_way way, stream_way back, std::size_t window);
  bool over() const noexcept { return reader_.over() && writer_.over(); }

  const protocol_services& services_;
  stream_table& table_;
  const std::shared_ptr<proto::peer> with_;
  const std::uint32_t number_;
  const stream_way way_;
  stream_reader reader_;
  stream_writer writer_;
  closed_operation* closing_ = nullptr;
  std::shared_ptr<stream> self_;  // set while it has no other owner
  bool listed_ = true;            // in the table
};

}  // namespace weft::proto
