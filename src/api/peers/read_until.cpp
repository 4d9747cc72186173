// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <weft/stream.hpp>

#include "proto/streams/lent_bytes.hpp"

namespace weft::detail {

namespace {

// Bytes that are fetched at once: what is behind the delimiter is copied once more.
constexpr std::size_t fetched = std::size_t{16} << 10;

/// Looks for the delimiter, and takes the line. \param seen bytes in which it does not begin; grows
/// \return false: more bytes are needed
bool take_line(proto::stream& from, std::string& line, std::string_view delimiter, at_most limit,
               std::size_t& seen) {
  proto::lent_bytes bytes(from);
  const std::string_view all(reinterpret_cast<const char*>(bytes.all().data()), bytes.all().size());
  const std::size_t at = all.find(delimiter, seen);
  if (at == all.npos) seen = all.size() - std::min(all.size(), delimiter.size() - 1);
  if ((at == all.npos ? seen : at) > limit.bytes)
    throw error(errc::truncated,
                from.explain(errc::truncated,
                             fmt::format("no delimiter within {} bytes; pass a larger at_most, or "
                                         "read them another way: they are left",
                                         limit.bytes)
                                 .c_str()));
  if (at == all.npos) return false;
  line.assign(all.data(), at);
  bytes.take(at + delimiter.size());
  return true;
}

}  // namespace

task<void> read_line(stream_handle from, std::string& line, std::string delimiter, at_most limit) {
  proto::stream& s = proto::named(from);
  if (delimiter.empty())
    throw error(errc::invalid_argument, "read_until: the delimiter must not be empty");
  std::size_t seen = 0;
  while (!take_line(s, line, delimiter, limit, seen)) {
    const stream_fetch_request more{&s, fetched};
    const std::size_t n = co_await more;
    if (n == 0) throw proto::end_of(s, proto::lent_bytes(s).all().size(), "a line");
  }
}

task<std::string> read_new_line(stream_handle from, std::string delimiter, at_most limit) {
  std::string line;
  co_await read_line(std::move(from), line, std::move(delimiter), limit);
  co_return line;
}

}  // namespace weft::detail
