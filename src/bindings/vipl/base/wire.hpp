// SPDX-License-Identifier: Apache-2.0
// The bytes that two NICs exchange. Processes of one architecture; every field is checked before
// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft::vipl {

/// The number of the handler that takes all messages between NICs.
inline constexpr std::uint32_t handler_number = 0x56495031;
inline constexpr std::uint32_t wire_magic = 0x56495004;  // with the version of these formats

/// Bytes of the longest message to the handler, with its header.
inline constexpr std::size_t longest_message = 8 * 1024;

enum class message : std::uint8_t {
  data,       ///< a send; its bytes follow, or (in_place) the number of the descriptor
  written,    ///< an RDMA write with immediate data has ended
  arrived,    ///< by VIP_SERVICE_RELIABLE_RECEPTION: all before number `length` have arrived
  refused,    ///< the same: message number `length` found no descriptor that holds it
  asks,       ///< for message number `length`: which receive descriptors are posted now?
  ahead,      ///< receive descriptors that travel ahead: `list_ahead` follows
  connected,  ///< the side that listens has accepted; its introduction follows
  agreed,     ///< the answer of the side that has requested
  gone,       ///< the same: it does not wait any more
  broken,     ///< the VI of the sender has left the connection by an error; `length`: rdma_fault
  left,       ///< the same in good order
  denied,     ///< of an unreliable VI, which stays connected; `length`: rdma_fault
  piece,      ///< more bytes of the last `data`, which is in pieces; `length`: how many were before
};

/// What became of an RDMA operation of the sender's, as the memory's side is to report it.
enum class rdma_fault : std::uint32_t { none, write_denied, read_denied, write_aborted };

enum flags : std::uint8_t {
  with_immediate = 1,  ///< `immediate` is valid
  in_place = 2,        ///< the bytes have been written to the descriptor's buffers
  unplaced = 4,        ///< there was no descriptor that would hold them: no bytes come
  answers = 8,         ///< of `ahead`: the question for message number `length`
  in_pieces = 16,      ///< of `data`: the first bytes come, and the others by `piece`
};

/// The beginning of each message.
struct header {
  std::uint32_t vi;     ///< the number of the receiving VI
  std::uint16_t epoch;  ///< of its connection
  message what;
  std::uint8_t flags;
  std::uint32_t length;  ///< bytes of the message, or what its kind says
  std::uint32_t immediate;
};
static_assert(sizeof(header) == 16 && std::is_trivially_copyable_v<header>);

/// Bytes of the longest send that travels inside its message.
inline constexpr std::size_t longest_inline = longest_message - sizeof(header);

/// Bytes of the longest send that travels in several messages. Each but the last one has
/// longest_inline of them; no other send of the VI comes between.
inline constexpr std::size_t longest_in_pieces = 48 * 1024;

/// The receive descriptors that are posted, from one on: their number may be 0. Messages and
/// descriptors are numbered from the beginning of a connection. On an unreliable VI, messages are
/// dropped: from then on their numbers differ.
struct list_ahead {
  std::uint32_t dropped;  ///< messages that took no descriptor
  std::uint32_t first;    ///< the number of the first descriptor in the list
  std::uint32_t count;
};
static_assert(sizeof(list_ahead) == 12);

/// One of them, followed by its places.
struct descriptor_ahead {
  std::uint32_t capacity;  ///< bytes
  std::uint32_t places;
};
static_assert(sizeof(descriptor_ahead) == 8);

struct place_ahead {
  std::uint32_t handle;
  std::uint32_t length;
  std::uint64_t address;
};
static_assert(sizeof(place_ahead) == 16);

/// Whether one number comes before the other; they wrap around.
constexpr bool comes_before(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

inline constexpr std::uint32_t most_segments = 64;

/// The most descriptors that travel in one message.
inline constexpr std::size_t descriptors_in_batch = 32;

/// What a VI tells its peer: in the private data of a connection request, and in `connected`.
struct introduction {
  std::uint32_t magic;
  std::uint32_t vi;
  std::uint16_t epoch;
  std::uint16_t reliability;
  std::uint8_t rdma_write, rdma_read;
  std::uint8_t of_equals;  ///< by VipConnectPeerRequest
  std::uint8_t address_length, discriminator_length;
  std::uint8_t reserved[3];
  std::uint32_t tag;  ///< protection tag
  std::uint64_t max_transfer;
  std::uint64_t secret;   ///< of its NIC: makes the keys of regions for RDMA
  std::uint64_t landing;  ///< of this connection: makes the keys of regions for messages
};
static_assert(sizeof(introduction) == 48 && std::is_trivially_copyable_v<introduction>);

/// Takes values from the front of bytes. Nothing when there are too few.
class reader {
 public:
  explicit reader(std::span<const std::byte> from) noexcept : rest_(from) {}
  std::span<const std::byte> rest() const noexcept { return rest_; }

  template <class T>
  std::optional<T> take() noexcept {
    if (rest_.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

/// Which of the regions over registered memory.
enum class access : std::uint8_t { rdma, landing };

constexpr std::uint64_t scramble(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The key of a region. Both sides make it; a wrong tag or handle gives the key of no region.
/// \param tag for access::rdma the protection tag; otherwise 0
constexpr std::uint64_t region_key(std::uint64_t secret, access what, std::uint32_t tag,
                                   std::uint32_t handle) noexcept {
  const std::uint64_t name = std::uint64_t{tag} << 32 | handle;
  return scramble(scramble(secret ^ scramble(name)) + static_cast<std::uint64_t>(what)) | 1;
}

}  // namespace weft::vipl
