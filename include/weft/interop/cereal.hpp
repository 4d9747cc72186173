// SPDX-License-Identifier: Apache-2.0
// Values of any type that cereal serialises. This header needs cereal (libcereal-dev); weft itself
// does not, and no other header of weft includes this one: a program opts in by including it.
//
//     #include <cereal/types/map.hpp>            // what cereal needs for the members
//     #include <weft/interop/cereal.hpp>
//
//     co_await peer.send_value(tag{1}, index);   // std::map<std::string, std::vector<int>>
//     auto index = co_await peer.recv_value<std::map<std::string, std::vector<int>>>(tag{1});
//
// Types that weft sends by itself (value.hpp) still go as bytes, and an explicit wire<T> of the
// application comes first. Include it in every file that sends or receives such a type. T needs a
// default constructor. A long object is streamed, as with any wire<T>.
//
// cereal trusts its input: a hostile peer can make it allocate as much as a number in the input
// says. Take it between processes that trust each other.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/cereal.hpp>
#include <concepts>
#include <cstddef>

#include <istream>
#include <ostream>
#include <span>
#include <streambuf>
#include <string>

#include <weft/error.hpp>
#include <weft/wire.hpp>

namespace weft {

namespace detail {

template <class T>
concept only_by_cereal =
    kind_without_wire<T>() == value_kind::none && std::default_initializable<T> &&
    cereal::traits::is_output_serializable<T, cereal::BinaryOutputArchive>::value &&
    cereal::traits::is_input_serializable<T, cereal::BinaryInputArchive>::value;

/// cereal's archives write to a stream buffer.
class sink_buffer final : public std::streambuf {
 public:
  explicit sink_buffer(sink& to) noexcept : to_(to) {}

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize n) override {
    to_.write(std::as_bytes(std::span(bytes, static_cast<std::size_t>(n))));
    return n;
  }

  sink& to_;
};

class source_buffer final : public std::streambuf {
 public:
  explicit source_buffer(source& from) noexcept : from_(from) {}

 private:
  std::streamsize xsgetn(char* into, std::streamsize n) override {
    from_.read(std::as_writable_bytes(std::span(into, static_cast<std::size_t>(n))));
    return n;
  }

  source& from_;
};

}  // namespace detail

template <detail::only_by_cereal T>
struct wire<T> {
  static void put(sink& to, const T& value) {
    detail::sink_buffer buffer(to);
    std::ostream stream(&buffer);
    cereal::BinaryOutputArchive archive(stream);
    archive(value);
  }

  /// \throws weft::error (protocol_error) for bytes that cereal refuses
  static T get(source& from) {
    detail::source_buffer buffer(from);
    std::istream stream(&buffer);
    cereal::BinaryInputArchive archive(stream);
    T value;
    try {
      archive(value);
    } catch (const cereal::Exception& e) {
      throw error(errc::protocol_error, std::string("cereal: ") + e.what());
    }
    return value;
  }
};

}  // namespace weft
