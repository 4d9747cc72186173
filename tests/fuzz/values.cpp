// SPDX-License-Identifier: Apache-2.0
// Bytes of a peer that a source takes apart: each input is a value, or refused by weft::error with
// protocol_error. Memory grows with the input, whatever number of elements the input tells of.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/wire.hpp>

#include "target.hpp"

namespace weft::fuzz {

/// A type of an application whose values have no bytes.
struct nothing {
  std::vector<int> cache;
};

}  // namespace weft::fuzz

template <>
struct weft::wire<weft::fuzz::nothing> {
  static void put(sink&, const fuzz::nothing&) {}
  static fuzz::nothing get(source&) { return {}; }
};

namespace weft::fuzz {

namespace {

/// Gives the input in short runs, so that values lie across their limits.
class input_source final : public source {
 public:
  input_source(input in, std::size_t run) noexcept : in_(in), run_(run) {}

 private:
  const_buffer next_bytes() override { return in_.bytes(run_); }

  input in_;
  const std::size_t run_;
};

template <class T>
void value(input in, std::size_t run) {
  const std::size_t size = in.rest().size();
  input_source from(in, run);
  try {
    static_cast<void>(from.get<T>());
  } catch (const error& e) {
    check(e.kind() == errc::protocol_error, "what is no value is an error of the protocol");
  }
  check(from.bytes_read() <= size, "a source reads no more than there is");
}

}  // namespace

void run(input in) {
  const auto kind = in.get<std::uint8_t>();
  const std::size_t run = 1 + in.get<std::uint8_t>();
  switch (kind % 5) {
    case 0:
      return value<std::string>(in, run);
    case 1:
      return value<std::vector<std::pair<int, double>>>(in, run);
    case 2:
      return value<std::vector<std::vector<std::string>>>(in, run);
    case 3:
      return value<std::array<std::uint64_t, 5>>(in, run);
    default:
      return value<std::vector<nothing>>(in, run);
  }
}

}  // namespace weft::fuzz
