// SPDX-License-Identifier: Apache-2.0
// The tables of a context, beside the services of its parts.
#pragma once

namespace weft::proto {

class call_table;
class connector;
class group_table;
class peer_registry;
class peer_upkeep;
class receives;
class region_table;
class stream_table;

/// Where frames and operations go that are not of one peer. A peer gets them at its construction,
/// and hands to each of its parts those that the part uses. Made once by the messenger, which owns
/// what it refers to. Progress lock held only, except for functions that say "any thread".
struct protocol_tables {
  peer_registry& peers;
  peer_upkeep& upkeep;
  proto::receives& receives;
  call_table& calls;
  group_table& groups;
  region_table& regions;
  stream_table& streams;
  connector* connections = nullptr;  ///< makes links; set before the first operation
};

}  // namespace weft::proto
