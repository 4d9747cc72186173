// SPDX-License-Identifier: Apache-2.0
// The bytes that a stream has read ahead, lent to a coroutine that looks into them.
#pragma once

#include <memory>
#include <string>

#include <weft/error.hpp>

#include "proto/streams/stream.hpp"

namespace weft::proto {

/// Borrows from its constructor to its destructor, between which the coroutine awaits nothing. The
/// progress lock is not held meanwhile: a long line is searched, and code of the application runs.
class lent_bytes {
 public:
  /// \throws weft::error (invalid_argument) while another read is under way
  explicit lent_bytes(stream& of) : of_(of) {
    const runtime::engine::holder hold(of.engine());
    if (!of.reader().swap_ahead(bytes_))
      throw error(errc::invalid_argument, of.explain(errc::invalid_argument, nullptr));
  }
  lent_bytes(const lent_bytes&) = delete;
  lent_bytes& operator=(const lent_bytes&) = delete;
  /// If a read has begun meanwhile, against the rule, the bytes are lost.
  ~lent_bytes() {
    const runtime::engine::holder hold(of_.engine());
    of_.reader().swap_ahead(bytes_);
  }

  const_buffer all() const noexcept { return bytes_.bytes(); }
  void take(std::size_t n) noexcept { bytes_.take(n); }

 private:
  stream& of_;
  read_ahead bytes_;
};

/// The error of a read that came to the end of the stream. \param bytes in front of it, which are
/// left \param what needed more
inline error end_of(const stream& s, std::size_t bytes, const char* what) {
  if (bytes == 0)
    return error(errc::closed,
                 s.explain(errc::closed, "the peer has finished, and all of it was read"));
  return error(errc::protocol_error,
               s.explain(errc::protocol_error,
                         ("the peer has finished after " + std::to_string(bytes) +
                          " bytes, in the middle of " + what + "; a plain read gets these bytes")
                             .c_str()));
}

/// \throws weft::error (invalid_argument) if there is none
inline stream& named(const std::shared_ptr<stream>& s) {
  if (!s) throw error(errc::invalid_argument, no_stream);
  return *s;
}

}  // namespace weft::proto
