# SPDX-License-Identifier: Apache-2.0
# Fails where a descriptor that another process has made could be closed on a thread that matters: its last close may
# block for any time (src/runtime/descriptors/disposal.hpp). Such descriptors come by the calls below, so those are made
# in few places, and what they return ends in a disposal.
cmake_minimum_required(VERSION 3.25)

# What only the named files may contain, and what the others do instead.
set(rules accept receive unix_socket close replace asio_descriptor)
set(accept "[^a-z_]::accept4?\\(")
set(accept_files runtime/descriptors/disposal.cpp runtime/descriptors/spare_fd.hpp wireup/sockets/unix_socket.cpp
  transports/tcp/socket.cpp)
set(accept_cure "call wireup::accept_one with a disposal")
set(receive "(recvmsg|recvmmsg)\\(|SCM_RIGHTS")
set(receive_files runtime/descriptors/disposal.cpp runtime/descriptors/remote_wakeup.cpp
  runtime/descriptors/rights.hpp wireup/sockets/unix_socket.cpp
  transports/tcp/stream_socket.hpp)  # of TCP
set(receive_cure "call wireup::receive_packet with a disposal")
set(unix_socket "::socket(pair)?\\(AF_(UNIX|LOCAL)")
set(unix_socket_files runtime/descriptors/remote_wakeup.cpp wireup/sockets/unix_socket.cpp)
set(unix_socket_cure "call wireup::listen_abstract or connect_abstract")
# Of weft's own descriptors; wireup/loop/connection.cpp and listener.cpp: of TCP; regions.cpp: of a memory file whose
# mapping ends in the disposal.
set(close "[^a-z_]::close\\(")
set(close_files runtime/descriptors/unique_fd.cpp runtime/descriptors/disposal.cpp runtime/descriptors/ending_thread.cpp
  runtime/descriptors/close_on_fork.cpp runtime/descriptors/standard_descriptors.cpp runtime/files/file_calls.cpp
  wireup/sockets/unix_socket.cpp wireup/loop/connection.cpp wireup/loop/listener.cpp transports/shm/regions.cpp
  api/io/file.cpp api/io/signal_set.cpp bindings/ofi/objects/sleeper.cpp)
set(close_cure "let a unique_fd close it, with a disposal if it came from another process")
set(replace "::dup[23]\\(")  # closes the file that had the number
set(replace_files runtime/descriptors/spare_fd.hpp runtime/descriptors/close_on_fork.cpp)
set(replace_cure "${close_cure}")
# Asio's objects close on the thread of their owner: these release what they have to the disposal.
set(asio_descriptor "stream_descriptor [a-z_]+;|[^a-z_]socket_\\.close\\(")
set(asio_descriptor_files wireup/loop/connection.hpp wireup/loop/listener.hpp wireup/tcp/tcp_answering.cpp
  wireup/tcp/tcp_asking.cpp
  wireup/manager/name_watch.hpp)  # an inotify instance of weft's own
set(asio_descriptor_cure "release() the descriptor to disposal::hang_up or stop_listening")

# Calls that have to name the disposal.
set(incomplete "(connect_abstract|accept_one)\\([^,;]*\\);")
set(incomplete_files wireup/sockets/unix_socket.cpp wireup/sockets/unix_socket.hpp transports/tcp/socket.cpp
  transports/tcp/socket.hpp  # accept_one of TCP
  transports/tcp/connecting/acceptor.cpp)  # a probe that hangs up by a disposal of its own
set(incomplete_cure "pass the disposal that closes the socket")
list(APPEND rules incomplete)

file(GLOB_RECURSE files RELATIVE "${SOURCE}" "${SOURCE}/*.hpp" "${SOURCE}/*.cpp")
foreach(file IN LISTS files)
  file(READ "${SOURCE}/${file}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  foreach(rule IN LISTS rules)
    if(file IN_LIST ${rule}_files)
      continue()
    endif()
    if(text MATCHES "${${rule}}")
      string(STRIP "${CMAKE_MATCH_0}" found)
      message(SEND_ERROR "src/${file}: '${found}': ${${rule}_cure} (tests/layers/descriptors.cmake)")
    endif()
  endforeach()
  if(text MATCHES "[^_a-z]packet [a-z]+;" AND text MATCHES "receive_packet\\("
     AND NOT file MATCHES "wireup/sockets/unix_socket" AND NOT text MATCHES "\\.disposal = ")
    message(SEND_ERROR "src/${file}: a packet is received without a disposal for its descriptors")
  endif()
endforeach()

# A name in a list above that no file has would permit something later on.
foreach(rule IN LISTS rules)
  foreach(file IN LISTS ${rule}_files)
    if(NOT file IN_LIST files)
      message(SEND_ERROR "tests/layers/descriptors.cmake: there is no src/${file}")
    endif()
  endforeach()
endforeach()
