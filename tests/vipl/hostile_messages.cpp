// SPDX-License-Identifier: Apache-2.0
#include "hostile_messages.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace weft::vipl;

namespace {

constexpr std::size_t most_past = 64;

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void hostile_messages::begin(const introduction& victim) noexcept {
  victim_ = victim;
  sent_ = heard_ = shown_ = dropped_ = first_ = known_ = gone_ = whole_ = 0;
  asked_.reset();
}

void hostile_messages::heard(const header& h, std::span<const std::byte> rest) {
  if (h.what == message::data || h.what == message::written) ++heard_;
  if (h.what == message::asks) asked_ = h.length;
  if (h.what != message::ahead) return;
  const auto l = reader(rest).take<list_ahead>();
  if (!l) return;
  dropped_ = l->dropped;
  first_ = l->first;
  known_ = l->count;
}

std::string hostile_messages::plain(message what) const {
  std::string whole;
  append(whole, header{victim_.vi, victim_.epoch, what, 0, 0, 0});
  return whole;
}

std::string hostile_messages::noise(std::size_t most) {
  std::string s(dice_.below(most + 1), '\0');
  for (char& c : s) c = static_cast<char>(dice_.throw_one());
  return s;
}

/// A send by any of its three ways: its bytes, the number of their descriptor, or nothing.
std::string hostile_messages::data() {
  header h{victim_.vi, victim_.epoch, message::data, 0, 0, 7};
  if (dice_.percent(30)) h.flags |= with_immediate;
  std::string body;
  const std::uint32_t number = sent_++ - dropped_;
  if (known_ != 0 && !comes_before(number, first_) && comes_before(number, first_ + known_) &&
      dice_.percent(60)) {
    h.flags |= in_place;
    h.length = static_cast<std::uint32_t>(dice_.below(20'001));
    append(body, number);
  } else if (dice_.percent(10)) {
    h.flags |= unplaced;
    h.length = 100'000;
  } else if (dice_.percent(15)) {
    h.flags |= in_pieces;
    h.length = static_cast<std::uint32_t>(longest_inline + 1 + dice_.below(20'000));
    body = noise(longest_inline);
    body.resize(longest_inline, 'x');
    whole_ = h.length;
    gone_ = static_cast<std::uint32_t>(longest_inline);
  } else {
    body = noise(dice_.percent(20) ? longest_inline : 100);
    h.length = static_cast<std::uint32_t>(body.size());
  }
  std::string whole;
  append(whole, h);
  return whole + body;
}

/// Receive descriptors of this side. Its memory does not exist, so puts to it are refused.
std::string hostile_messages::list() {
  header h{victim_.vi, victim_.epoch, message::ahead, 0, 0, 0};
  if (const auto label = std::exchange(asked_, std::nullopt)) {
    h.flags = answers;
    h.length = *label;
  }
  const auto count = static_cast<std::uint32_t>(dice_.below(descriptors_in_batch + 1));
  std::string whole;
  append(whole, h);
  append(whole, list_ahead{0, std::max(heard_, shown_), count});
  for (std::uint32_t i = 0; i != count; ++i) {
    const auto places = static_cast<std::uint32_t>(dice_.below(4));
    append(whole, descriptor_ahead{places * 25000, places});
    for (std::uint32_t p = 0; p != places; ++p) append(whole, place_ahead{1 + p, 25000, p * 25000});
  }
  shown_ = std::max(heard_, shown_) + count;
  return whole;
}

/// The next bytes of a send in pieces.
std::string hostile_messages::piece() {
  const header h{victim_.vi, victim_.epoch, message::piece, 0, gone_, 0};
  const auto size =
      static_cast<std::uint32_t>(std::min<std::size_t>(longest_inline, whole_ - gone_));
  gone_ += size;
  std::string whole;
  append(whole, h);
  return whole + std::string(size, 'y');
}

std::string hostile_messages::valid() {
  if (gone_ != whole_) return piece();
  header h{victim_.vi, victim_.epoch, message::data, 0, 0, 0};
  std::string whole;
  switch (dice_.below(10)) {
    case 0:
      h.what = message::written;
      h.flags = with_immediate;
      h.length = static_cast<std::uint32_t>(dice_.below(100'000));
      ++sent_;
      break;
    case 1:
      h.what = message::arrived;
      h.length = heard_;
      break;
    case 2:
      return plain(message::asks);
    case 3:
    case 4:
      return list();
    default:
      return data();
  }
  append(whole, h);
  return whole;
}

/// Wrong in one respect.
std::string hostile_messages::bent(std::string whole) {
  header h{};
  std::memcpy(&h, whole.data(), sizeof h);
  const std::uint32_t step = dice_.percent(50) ? 1 : static_cast<std::uint32_t>(dice_.throw_one());
  switch (dice_.below(9)) {
    case 0:
      h.vi += step;
      break;
    case 1:
      h.epoch = static_cast<std::uint16_t>(h.epoch + step);
      break;
    case 2:
      h.what = static_cast<message>(dice_.below(13));
      break;
    case 3:
      h.flags ^= static_cast<std::uint8_t>(1u << dice_.below(8));
      break;
    case 4:
      h.length += step;
      break;
    case 5:
      h.length -= step;
      break;
    case 6:
      whole.resize(dice_.below(whole.size() + 1));
      break;
    case 7:
      whole.resize(std::min(whole.size() + 1 + dice_.below(40), longest_message));
      break;
    default:
      whole[dice_.below(whole.size())] ^= static_cast<char>(1u << dice_.below(8));
      return whole;
  }
  std::memcpy(whole.data(), &h, std::min(sizeof h, whole.size()));
  return whole;
}

std::string hostile_messages::next() {
  if (!past_.empty() && dice_.percent(5)) return past_[dice_.below(past_.size())];
  if (dice_.percent(3)) return noise(300);
  std::string whole = dice_.percent(15) ? bent(valid()) : valid();
  if (past_.size() == most_past) past_.pop_front();
  past_.push_back(whole);
  return whole;
}
