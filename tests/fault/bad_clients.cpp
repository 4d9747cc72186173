// SPDX-License-Identifier: Apache-2.0
#include "bad_clients.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>

#include "support/pattern.hpp"
#include "transports/tcp/wire.hpp"
#include "wireup/auth/handshake.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/sockets/unix_socket.hpp"
#include "world.hpp"

namespace fault {

namespace wireup = weft::wireup;
namespace tcp = weft::transports::tcp;

namespace {

/// The inodes of a process's sockets, as in /proc/net/tcp.
std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> all;
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    const std::string to = std::filesystem::read_symlink(entry.path(), gone).string();
    if (to.starts_with("socket:[")) all.insert(to.substr(8, to.size() - 9));
  }
  return all;
}

void append(std::vector<std::byte>& to, std::span<const std::byte> what) {
  to.insert(to.end(), what.begin(), what.end());
}

}  // namespace

std::vector<sockaddr_in> listening_places(pid_t pid) {
  const std::set<std::string> own = sockets_of(pid);
  std::vector<sockaddr_in> all;
  for (const char* table : {"tcp", "tcp6"}) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/net/" + table);
    std::string line;
    std::getline(file, line);  // the heading
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, skipped, inode;
      words >> number >> local >> remote >> state;
      for (int i = 0; i != 5; ++i) words >> skipped;
      words >> inode;
      constexpr const char* listens = "0A";
      if (state != listens || !own.contains(inode)) continue;
      const std::size_t colon = local.find(':');
      const std::string address = local.substr(0, colon);
      const bool any = address.find_first_not_of('0') == address.npos;
      if (!any && address.size() != 8) continue;  // one IPv6 address: it has another place, too
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_port =
          htons(static_cast<std::uint16_t>(std::stoul(local.substr(colon + 1), nullptr, 16)));
      at.sin_addr.s_addr =
          any ? htonl(INADDR_LOOPBACK) : static_cast<in_addr_t>(std::stoul(address, nullptr, 16));
      all.push_back(at);
    }
  }
  return all;
}

std::vector<std::string> abstract_names(pid_t pid) {
  const std::set<std::string> own = sockets_of(pid);
  std::vector<std::string> all;
  std::ifstream file("/proc/" + std::to_string(pid) + "/net/unix");
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string skipped, inode, name;
    for (int i = 0; i != 6; ++i) words >> skipped;
    words >> inode >> name;
    if (name.starts_with('@') && own.contains(inode)) all.push_back(name.substr(1));
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()),
            all.end());  // also of clients that it has accepted
  return all;
}

std::vector<std::byte> bad_clients::garbage(std::size_t size) {
  return weft::tests::pattern(size, dice_());
}

void bad_clients::arrive(manner how) {
  one& s = there_.emplace_back();
  s.how = how != manner::count ? how : static_cast<manner>(came_ % static_cast<int>(manner::count));
  const sockaddr_in& to = places_[dice_() % places_.size()];
  ++came_;
  s.fd = weft::unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!s.fd || (::connect(s.fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 &&
                errno != EINPROGRESS))
    throw std::runtime_error(std::string("a bad client cannot connect: ") + std::strerror(errno));
  const auto opening = wireup::encode_opening(wireup::approach::prove);
  tcp::client_hello client_hello{tcp::magic, tcp::version, 0, {dice_(), dice_()}, {}};
  switch (s.how) {
    case manner::babbles:
      s.says = garbage(24 + dice_() % 4000);
      break;
    case manner::half:
      s.says = garbage(4);
      break;
    case manner::wrong_key:
    case manner::half_answered:
      append(s.says, opening);
      break;
    case manner::wrong_token:
    case manner::slow:
      append(s.says, std::as_bytes(std::span(&client_hello, 1)));
      break;
    case manner::too_much:
      // Read as a control frame or as private data, its length and its content are nonsense.
      s.says = garbage(1 << 20);
      std::ranges::fill(std::span(s.says).first(8), std::byte{0xff});
      break;
    default:
      break;
  }
}

/// Answers as a client that knows the key would, with another key, and goes on as if it had been
/// admitted.
void bad_clients::answer_challenge(one& s) {
  wireup::challenge asked;
  std::memcpy(asked.data(), s.heard.data(), asked.size());
  wireup::prover other(wireup::job_key::random());
  const auto proof = other.answer(asked);
  if (!proof) {
    complaints_ += "a challenge that is none\n";
    return;
  }
  append(s.says, *proof);
  wireup::hello h;
  h.who.locator = wireup::random_socket_name();
  const wireup::frame f = wireup::encode(h);
  append(s.says, wireup::frame_header::of(f));
  append(s.says, f.body);
}

void bad_clients::speak(one& s) {
  while (s.said != s.says.size()) {
    const std::size_t left = s.says.size() - s.said;
    const ssize_t n =
        ::send(s.fd.get(), s.says.data() + s.said, s.how == manner::slow ? 1 : left, MSG_NOSIGNAL);
    if (n < 0) {
      s.over = errno != EAGAIN;
      return;
    }
    s.said += static_cast<std::size_t>(n);
    if (s.how == manner::slow) return;
  }
}

void bad_clients::listen(one& s) {
  std::array<std::byte, 4096> part;
  const ssize_t n = ::recv(s.fd.get(), part.data(), part.size(), 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    s.over = true;
    return;
  }
  append(s.heard, std::span(part).first(static_cast<std::size_t>(n)));
  const bool began_well = s.how == manner::wrong_key || s.how == manner::half_answered;
  if (s.heard.size() > (began_well ? wireup::challenge_size : 0)) {
    complaints_ += "a bad client of manner " + std::to_string(static_cast<int>(s.how)) +
                   " was sent " + std::to_string(s.heard.size()) + " bytes\n";
    s.over = true;
  } else if (s.how == manner::wrong_key && s.heard.size() == wireup::challenge_size) {
    answer_challenge(s);
  }
}

void bad_clients::go_on(one& s) {
  if (s.how == manner::leaves || s.how == manner::resets) {
    const linger at_once{1, 0};
    if (s.how == manner::resets)
      ::setsockopt(s.fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    s.over = true;
    return;
  }
  speak(s);
  if (!s.over) listen(s);
}

/// Whether the client has sent nothing wrong, or not all of it, so that it may be tolerated for a
/// while.
bool bad_clients::waits(const one& s) const {
  const bool small = s.said < sizeof(tcp::client_hello);
  return !s.connected || s.how == manner::silent || s.how == manner::half ||
         s.how == manner::half_answered || small;
}

void bad_clients::serve() {
  std::vector<pollfd> sockets;
  for (const one& s : there_)
    sockets.push_back({s.fd.get(),
                       static_cast<short>(
                           s.connected ? POLLIN | (s.said < s.says.size() ? POLLOUT : 0) : POLLOUT),
                       0});
  ::poll(sockets.data(), sockets.size(), 1);
  auto at = sockets.begin();
  for (one& s : there_) {
    const short seen = (at++)->revents;
    if (seen == 0) continue;
    s.connected = true;
    go_on(s);
  }
  there_.remove_if([](const one& s) { return s.over; });
}

void bad_clients::come(int count, manner how) {
  for (const int until = came_ + count; came_ < until; serve()) {
    if (there_.size() < at_once_) {
      arrive(how);
      continue;
    }
    const auto bored = std::ranges::find_if(there_, [this](const one& s) { return waits(s); });
    if (bored != there_.end()) there_.erase(bored);
  }
}

std::size_t bad_clients::present() {
  serve();
  return there_.size();
}

void bad_clients::go() {
  const bool all = eventually([this] {
    serve();
    return std::ranges::all_of(there_, [this](const one& s) { return waits(s) && s.connected; });
  });
  if (!all) complaints_ += "a bad client was not disconnected\n";
  there_.clear();
}

}  // namespace fault
