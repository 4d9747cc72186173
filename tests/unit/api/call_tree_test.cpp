// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;

namespace {

/// Two names of temporary files, removed at the end.
struct two_trees {
  std::string sender = "weft-tree-a-" + std::to_string(::getpid()) + ".txt";
  std::string receiver = "weft-tree-b-" + std::to_string(::getpid()) + ".txt";
  ~two_trees() {
    std::remove(sender.c_str());
    std::remove(receiver.c_str());
  }
};

struct tree_line {
  double at = 0;
  int rank = -1;
  std::string thread;
  std::size_t depth = 0;
  char mark = ' ';
  std::string text;
};

std::vector<tree_line> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<tree_line> all;
  for (std::string line; std::getline(in, line);) {
    tree_line one;
    std::istringstream words(line);
    words >> one.at >> one.rank >> one.thread;
    const std::size_t mark = line.find_first_of("<>-", line.find(one.thread) + one.thread.size());
    REQUIRE(mark != std::string::npos);
    one.depth = mark;
    one.mark = line[mark];
    static const std::regex peer("(to|from) [0-9]+");
    one.text = std::regex_replace(line.substr(mark + 2), peer, "$1 it");
    all.push_back(one);
  }
  return all;
}

/// Each step that begins ends, in the order of a stack for each thread, at its own depth.
void check_nested(const std::vector<tree_line>& all) {
  std::map<std::string, std::vector<tree_line>> open;
  for (const tree_line& l : all) {
    auto& stack = open[l.thread];
    INFO(l.thread << " " << l.mark << " " << l.text);
    if (l.mark == '<') {
      REQUIRE_FALSE(stack.empty());
      CHECK(stack.back().depth == l.depth);
      CHECK(l.at >= stack.back().at);
      // "send to it, tag 1, 8 bytes" ends as "send to it  0.8 µs".
      CHECK(stack.back().text.starts_with(l.text.substr(0, l.text.find("  "))));
      stack.pop_back();
    } else {
      if (!stack.empty()) CHECK(stack.back().depth < l.depth);
      if (l.mark == '>') stack.push_back(l);
    }
  }
  for (const auto& [thread, stack] : open) CHECK(stack.empty());
}

/// The texts are there in that order, perhaps among others, from the first one on.
void check_order(const std::vector<tree_line>& all, const std::vector<std::string>& texts) {
  auto from = all.begin();
  for (const std::string& text : texts) {
    from = std::find_if(from, all.end(), [&](const tree_line& l) {
      return l.mark != '<' && l.text.find(text) != std::string::npos;
    });
    INFO(text);
    REQUIRE(from != all.end());
    ++from;
  }
}

options with_tree(const std::string& file) {
  options o;
  o.transports = {"self", "shm"};
  o.call_tree_file = file;
  o.experimental.rendezvous = rendezvous_scheme::frames;
  return o;
}

constexpr std::size_t tree_small = 8, tree_large = std::size_t{256} << 10;

task<void> send_small_and_large(context& ctx, std::string address) {
  endpoint to = co_await ctx.connect(address);
  const std::vector<std::byte> data(tree_large);
  co_await to.send(std::span(data).first(tree_small), tag{7});
  co_await to.send(data, tag{9});
  co_await to.recv(mutable_buffer{}, tag{2});
}

task<void> receive_small_and_large(listener& at) {
  endpoint from = co_await at.accept();
  std::vector<std::byte> box(tree_large);
  co_await from.recv(box, tag{7});
  co_await from.recv(box, tag{9});
  co_await from.send(const_buffer{}, tag{2});
}

/// The exchange, with a tree of both contexts.
void exchange(const options& of_sender, const options& of_receiver) {
  context sending(of_sender), receiving(of_receiver);
  listener listening =
      run(receiving, receiving.listen("unix://weft-tree-" + std::to_string(::getpid())));
  std::thread other(
      [&, to = listening.address()] { run(sending, send_small_and_large(sending, to)); });
  run(receiving, receive_small_and_large(listening));
  other.join();
}

}  // namespace

TEST_CASE("a call tree is nested, and shows the steps of messages in the order of the protocol") {
  const two_trees files;
  exchange(with_tree(files.sender), with_tree(files.receiver));
  const auto sender = lines_of(files.sender), receiver = lines_of(files.receiver);
  check_nested(sender);
  check_nested(receiver);
  check_order(sender,
              {"send to it, tag 7, 8 bytes", "eager, 8 bytes", "frame to it: eager, tag 7, 8",
               "sent to it, 8 bytes", "send to it, tag 9, 262144 bytes", "rendezvous; eager",
               "frame to it: rts, tag 9, 262144 bytes", "pass", "frame from it: cts",
               "frame to it: data", "sent to it, 262144 bytes", "resume"});
  // Both messages may have come before the first receive.
  check_order(receiver, {"frame from it: eager, tag 7, 8 bytes", "received from it, 8 bytes"});
  check_order(receiver, {"frame from it: rts, tag 9, 262144 bytes", "frame to it: cts",
                         "frame from it: data", "received from it, 262144 bytes", "resume"});
}

TEST_CASE("a call tree shows who copies when the receiver reads") {
  const two_trees files;
  options o = with_tree(files.sender);
  o.experimental.rendezvous = rendezvous_scheme::get;
  options other = o;
  other.call_tree_file = files.receiver;
  exchange(o, other);
  check_nested(lines_of(files.receiver));
  check_order(lines_of(files.receiver), {": rts, tag 9", "copy", ": fin_ack"});
  check_order(lines_of(files.sender), {": rts, tag 9", "frame from it: fin_ack", "sent to"});
}

TEST_CASE("a call tree ends after as many messages as it is asked for") {
  const two_trees files;
  options o = with_tree(files.sender);
  o.call_tree_messages = 1;
  exchange(o, with_tree(files.receiver));
  const auto all = lines_of(files.sender);
  check_nested(all);
  check_order(all, {"sent to"});
  for (const tree_line& l : all) CHECK(l.text.find("tag 9") == std::string::npos);
}

TEST_CASE("a call tree that cannot be written is told at the beginning") {
  try {
    const context ctx(with_tree("/nowhere/at/all.txt"));
    FAIL("it was made");
  } catch (const error& e) {
    CHECK(e.kind() == errc::system);
    CHECK(std::string(e.what()).find("WEFT_CALL_TREE") != std::string::npos);
  }
}
