// SPDX-License-Identifier: Apache-2.0
#include "wireup/auth/job_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <weft/error.hpp>

#include "runtime/descriptors/fd.hpp"
#include "wireup/base/random.hpp"

namespace weft::wireup {

namespace {

const std::uint8_t* raw(std::span<const std::byte> bytes) noexcept {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

constexpr std::string_view how_to =
    "make one with `openssl rand -hex 32` or `xxd -l 32 -p -c 32 "
    "/dev/urandom`";

}  // namespace

job_key job_key::random() { return random(32); }

job_key job_key::random(std::size_t bytes) {
  job_key key;
  key.bytes_.resize(bytes);
  fill_random(key.bytes_);
  return key;
}

job_key job_key::of(std::span<const std::byte> bytes) {
  job_key key;
  key.bytes_.assign(bytes.begin(), bytes.end());
  return key;
}

job_key job_key::from_text(std::string_view text, std::string_view from) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  text = first == text.npos ? std::string_view{}
                            : text.substr(first, text.find_last_not_of(blank) - first + 1);
  const auto bad = [&](std::string_view what) {
    throw error(errc::invalid_argument,
                fmt::format("{} holds no job key: {}; it must be {} to {} hexadecimal digits: {}",
                            from, what, 2 * min_bytes, 2 * max_bytes, how_to));
  };
  if (text.size() % 2 != 0) bad("the number of digits is odd");
  if (text.size() < 2 * min_bytes) bad("it is too short to be a secret");
  if (text.size() > 2 * max_bytes) bad("it is too long");
  job_key key;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    std::uint8_t value = 0;
    const char* begin = text.data() + i;
    const auto [end, fault] = std::from_chars(begin, begin + 2, value, 16);
    if (fault != std::errc{} || end != begin + 2) bad("something in it is no digit");
    key.bytes_.push_back(static_cast<std::byte>(value));
  }
  return key;
}

job_key job_key::from_file(const std::string& path) {
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0)
    throw error(errc::system, fmt::format("the job key's file '{}' cannot be read: {}", path,
                                          std::strerror(errno)));
  if (!S_ISREG(about.st_mode))
    throw error(errc::invalid_argument, fmt::format("'{}' is not a file with a job key", path));
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw error(errc::invalid_argument,
                fmt::format("others may read the job key in '{0}'; run chmod 600 {0}", path));
  std::array<char, 4 * max_bytes> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0)
    throw error(errc::system, fmt::format("the job key's file '{}' cannot be read: {}", path,
                                          std::strerror(errno)));
  return from_text({text.data(), static_cast<std::size_t>(size)}, path);
}

std::string job_key::to_text() const {
  std::string text;
  for (const std::byte b : bytes_) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

digest job_key::sign(std::initializer_list<std::span<const std::byte>> pieces) const {
  return authenticate(bytes_, pieces);
}

digest authenticate(std::span<const std::byte> key,
                    std::initializer_list<std::span<const std::byte>> pieces) noexcept {
  hmac_sha256_ctx state;
  hmac_sha256_set_key(&state, key.size(), raw(key));
  for (const auto piece : pieces) hmac_sha256_update(&state, piece.size(), raw(piece));
  digest result;
  hmac_sha256_digest(&state, result.size(), reinterpret_cast<std::uint8_t*>(result.data()));
  return result;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && memeql_sec(a.data(), b.data(), a.size()) != 0;
}

}  // namespace weft::wireup
