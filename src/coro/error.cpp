// SPDX-License-Identifier: Apache-2.0
#include <weft/error.hpp>

namespace weft {

const char* name_of(errc e) noexcept {
  switch (e) {
    case errc::ok:
      return "ok";
    case errc::stopped:
      return "stopped";
    case errc::timed_out:
      return "timed_out";
    case errc::peer_lost:
      return "peer_lost";
    case errc::closed:
      return "closed";
    case errc::refused:
      return "refused";
    case errc::truncated:
      return "truncated";
    case errc::unreachable:
      return "unreachable";
    case errc::protocol_error:
      return "protocol_error";
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::out_of_memory:
      return "out_of_memory";
    case errc::unsupported:
      return "unsupported";
    case errc::system:
      return "system";
  }
  return "unknown";
}

const char* sentence_of(errc e) noexcept {
  switch (e) {
    case errc::ok:
      return "The operation ended well.";
    case errc::stopped:
      return "The operation was asked to stop before it ended.";
    case errc::timed_out:
      return "The deadline passed before the operation ended.";
    case errc::peer_lost:
      return "The peer process died or the connection to it broke.";
    case errc::closed:
      return "The endpoint, its context or the channel was closed.";
    case errc::refused:
      return "The peer rejected it: a connection, or access to its memory.";
    case errc::truncated:
      return "The message was longer than the buffer, which holds only its beginning.";
    case errc::unreachable:
      return "No transport reaches that address.";
    case errc::protocol_error:
      return "The peer sent something that no correct peer sends.";
    case errc::invalid_argument:
      return "The call was made with an argument that makes no sense.";
    case errc::out_of_memory:
      return "There was not enough memory.";
    case errc::unsupported:
      return "This transport, kernel or container cannot do that.";
    case errc::system:
      return "A system call failed.";
  }
  return "This number is no error of weft.";
}

namespace {

class category final : public std::error_category {
 public:
  constexpr category() = default;
  const char* name() const noexcept override { return "weft"; }
  std::string message(int value) const override { return sentence_of(static_cast<errc>(value)); }

  /// So that `code == std::errc::timed_out` holds where the standard has a word for it.
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::stopped:
        return std::errc::operation_canceled;
      case errc::timed_out:
        return std::errc::timed_out;
      case errc::peer_lost:
        return std::errc::connection_reset;
      case errc::refused:
        return std::errc::connection_refused;
      case errc::truncated:
        return std::errc::message_size;
      case errc::unreachable:
        return std::errc::host_unreachable;
      case errc::protocol_error:
        return std::errc::protocol_error;
      case errc::invalid_argument:
        return std::errc::invalid_argument;
      case errc::out_of_memory:
        return std::errc::not_enough_memory;
      case errc::unsupported:
        return std::errc::not_supported;
      default:
        return {value, *this};
    }
  }
};

// Holds no state; its address is what an error_code compares.
constinit const category the_category;

}  // namespace

const std::error_category& error_category() noexcept { return the_category; }

}  // namespace weft
