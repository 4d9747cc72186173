// SPDX-License-Identifier: Apache-2.0
#include "serve/note.hpp"

#include <algorithm>

namespace weft::bench {
namespace {

constexpr tag note_tag{2};
constexpr std::byte of_address{'a'}, of_text{'f'};

std::vector<std::byte> joined(std::byte kind, std::span<const std::byte> rest) {
  std::vector<std::byte> all{kind};
  all.insert(all.end(), rest.begin(),
             rest.begin() + static_cast<std::ptrdiff_t>(std::min(rest.size(), note::longest - 1)));
  return all;
}

}  // namespace

note note::of(const context_address& where) { return note(joined(of_address, where.bytes)); }

note note::of_failure(const std::string& why) {
  return note(joined(of_text, std::as_bytes(std::span(why))));
}

std::optional<context_address> note::address() const {
  context_address where;
  if (bytes_.size() != 1 + where.bytes.size() || bytes_[0] != of_address) return {};
  std::copy(bytes_.begin() + 1, bytes_.end(), where.bytes.begin());
  if (!is_context_address(where)) return {};
  return where;
}

std::string note::failure() const {
  if (bytes_.empty() || bytes_[0] != of_text) return "it has ended";
  std::string text;
  for (std::size_t i = 1; i < bytes_.size(); ++i) {
    const auto c = static_cast<unsigned char>(bytes_[i]);
    text += c < ' ' || c == 127 ? '?' : static_cast<char>(c);
  }
  return text;
}

task<note> receive_note(endpoint server) {
  auto bytes = co_await server.recv_value<std::vector<std::byte>>(note_tag, at_most{note::longest});
  co_return note(std::move(bytes));
}

task<void> send_note(endpoint client, note what) { co_await client.send(what.bytes(), note_tag); }

}  // namespace weft::bench
