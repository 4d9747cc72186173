# SPDX-License-Identifier: Apache-2.0
# Fails when a file of a room includes a room of its layer that it may not know, and when a folder has too many sources
# to find one's way in.
cmake_minimum_required(VERSION 3.25)

# The rooms of each layer, from the bottom up: "room: rooms of its layer that it may include". Each of those stands
# above it in the list, so headers have no cycle. Behind "|" are rooms that only its sources may include, also such as
# stand below it: those rooms know each other.
set(layers runtime proto wireup api bindings/ofi bindings/vipl)
set(runtime
  "os:"
  "descriptors: os"
  "cores: os descriptors"
  "trace: os descriptors"
  "sleep: os descriptors"
  "polling: descriptors trace sleep"
  "files: os sleep"
  "completion: os"
  "flags: descriptors sleep | completion"
  "lock: os"
  "progress: os trace sleep polling files completion flags lock")
# No part knows the messenger, which makes all of them: `calls` and `peer` take words for errors from its room. Parts of a
# peer that call each other know each other in their sources.
set(proto
  "support:"
  "frames:"
  "services: support"
  "select: frames"
  "match: frames | services select peer"
  "rails: support frames services | select peer"
  "connection: support frames services | match rails"
  "loans: frames | peer messenger"
  "rendezvous: support frames connection | select eager loans"
  "eager: support frames connection rendezvous | select match groups calls peer loans"
  "rma: support services connection | frames select"
  "groups: frames services | match peer"
  "calls: support frames services match | peer messenger"
  "peer: support services match connection rendezvous eager | frames select rails rma groups calls messenger"
  "messenger: frames services select match rma groups calls peer | loans"
  "operations: peer | rma messenger"
  "streams: support frames services peer messenger | match")
set(wireup
  "base:"
  "sockets: base"
  "auth: base sockets"
  "loop: base sockets"
  "tcp: base sockets auth loop"
  "channel: base sockets auth loop tcp"
  "manager: base sockets auth loop tcp channel"
  "job: base sockets auth loop manager"
  "bootstrap: base sockets auth loop tcp job")
set(api
  "versions:"
  "options:"
  "core: options"
  "context: options core"
  "peers: core"
  "objects: core"
  "io: core"
  "topics: core"
  "qdma: core"
  "channel:")
set(bindings/ofi
  "objects: | endpoint"
  "endpoint: objects")
set(bindings/vipl
  "base: | nic"
  "nic: base | vi"
  "vi: base nic"
  "calls: base nic vi")

# A room that has grown is two.
set(most_sources 30)
file(GLOB_RECURSE sources RELATIVE "${SOURCE}" "${SOURCE}/src/*.?pp" "${SOURCE}/bench/*.?pp")
list(TRANSFORM sources REPLACE "/[^/]+$" "")
set(folders ${sources})
list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  set(here ${sources})
  list(FILTER here INCLUDE REGEX "^${folder}$")
  list(LENGTH here count)
  if(count GREATER most_sources)
    message(SEND_ERROR "${folder}: ${count} sources: make rooms of at most ${most_sources}")
  endif()
endforeach()

foreach(layer IN LISTS layers)
  set(rooms)
  foreach(row IN LISTS ${layer})
    string(REGEX MATCH "^[^:]+" room "${row}")
    string(REGEX MATCH ":[^|]*" headers "${row}")
    string(REGEX MATCHALL "[a-z_]+" headers "${headers}")
    string(REGEX MATCHALL "[a-z_]+" may "${row}")
    list(POP_FRONT may)
    foreach(other IN LISTS headers)
      if(NOT other IN_LIST rooms)
        message(SEND_ERROR "tests/layers/rooms.cmake: ${layer}/${other} does not stand above ${layer}/${room}")
      endif()
    endforeach()
    list(APPEND rooms ${room})

    set(included)
    file(GLOB files RELATIVE "${SOURCE}/src" "${SOURCE}/src/${layer}/${room}/*.?pp")
    foreach(file IN LISTS files)
      file(STRINGS "${SOURCE}/src/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]+\"${layer}/")
      foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*\"${layer}/(.*)/[^/\"]*\".*" "\\1" other "${line}")
        list(APPEND included ${other})
        if(NOT other STREQUAL room AND NOT other IN_LIST headers
           AND NOT (file MATCHES "\\.cpp$" AND other IN_LIST may))
          message(SEND_ERROR "src/${file}: ${line}: ${layer}/${room} may not know ${layer}/${other}")
        endif()
      endforeach()
    endforeach()

    # A permission that is not used would permit something later on.
    foreach(other IN LISTS may)
      if(NOT other IN_LIST included)
        message(SEND_ERROR "tests/layers/rooms.cmake: ${layer}/${room} includes nothing of ${other}")
      endif()
    endforeach()
    if(NOT EXISTS "${SOURCE}/src/${layer}/${room}/README.md")
      message(SEND_ERROR "src/${layer}/${room}/README.md: missing: what the room owns, and where to begin to read")
    endif()
  endforeach()

  file(GLOB folders RELATIVE "${SOURCE}/src/${layer}" LIST_DIRECTORIES true "${SOURCE}/src/${layer}/*")
  list(FILTER folders EXCLUDE REGEX "\\.(txt|md|map)$")
  list(REMOVE_ITEM folders ${rooms})
  foreach(name IN LISTS folders)
    message(SEND_ERROR "src/${layer}/${name}: in no room, and no room that tests/layers/rooms.cmake knows")
  endforeach()
endforeach()
