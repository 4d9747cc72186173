// SPDX-License-Identifier: Apache-2.0
// The topics of a lane: those that it publishes, and at rank 0 the directory of its job.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/call.hpp>

#include "api/topics/subscription.hpp"
#include "api/topics/topic_source.hpp"

namespace weft::detail {

/// Serves the calls of topic_wire.hpp. Owned by the core, made for the first publisher or
/// subscriber, here or at a peer. Any thread.
class topic_node {
 public:
  /// \throws weft::error (closed), std::bad_alloc
  explicit topic_node(core& of);

  // --- publishers -------------------------------------------------------------------------------

  /// \throws weft::error (invalid_argument)
  topic_handle open(std::string name, const type_name& type, std::uint32_t history,
                    bool may_be_blocked);
  void close(topic_source& t) noexcept;
  std::vector<topic_info> list() const;

  // --- subscribers ------------------------------------------------------------------------------

  /// \throws weft::error (invalid_argument)
  subscription_handle subscribe(const std::vector<endpoint>& publishers, std::string name,
                                const type_name& type, const subscription_options& how);
  /// Begins to get values. \param number of the publisher there; 0: any
  void follow(const subscription_handle& s, const endpoint& publisher, std::uint32_t number = 0);
  /// Where the directory is. \throws weft::error
  endpoint directory() const;
  endpoint rank(peer_id r) const;

  // --- serve_subscriber -------------------------------------------------------------------------

  /// The topic that is asked for; null: there is none, and f.news tells when there may be
  topic_handle find(const subscribe_request& r, feed& f);
  void left(const subscribe_request& r, const feed& f) noexcept;

 private:
  /// The publishers of one name in the job.
  struct directory_of_name {
    topic_handle values;
    std::vector<directory_entry> entries;
  };

  task<void> on_subscribe(call c);
  task<void> on_announce(call c);
  void add_handler(am number, task<void> (topic_node::*serve)(call));
  task<void> on_list(call c);
  directory_of_name& directory_of(const std::string& name);
  void drop_unused(const std::string& name) noexcept;
  void count(peer_id who);
  std::uint32_t next_number() noexcept;
  task<void> announce(topic_handle t);
  task<void> serve_publisher(endpoint who, announce_request r);

  core& core_;
  mutable std::mutex mutex_;
  std::map<std::string, topic_handle, std::less<>> topics_;
  std::map<std::string, directory_of_name, std::less<>> directory_;
  std::vector<feed*> seekers_;                       // feeds whose topic there is not yet
  std::unordered_map<peer_id, std::uint32_t> held_;  // requests that are served, by their peers
  std::uint32_t last_number_ = 0;
  std::vector<handler> handlers_;
};

}  // namespace weft::detail
