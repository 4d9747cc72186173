# SPDX-License-Identifier: Apache-2.0
# Fails when a public function of a public header returns a type of a detail namespace, which users of external_loop
# and of their own wrappers would have to spell; and when a handle shows what is behind it.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE headers RELATIVE "${SOURCE}" "${SOURCE}/include/weft/*.hpp")
list(FILTER headers EXCLUDE REGEX "/detail/")
set(found 0)
foreach(header IN LISTS headers)
  file(READ "${SOURCE}/${header}" text)
  # One line for each; `;` and brackets mean something to lists.
  string(REPLACE ";" "@" text "${text}")
  string(REGEX REPLACE "[][]" "#" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(hidden FALSE)     # behind private: or protected:, until public: or the end of the class
  set(in_detail FALSE)  # in a namespace detail, until its end
  set(in_class FALSE)   # until its end; what is indented elsewhere is code
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace ([a-z_]+::)*detail {")
      set(in_detail TRUE)
    elseif(line MATCHES "^}  // namespace ([a-z_]+::)*detail")
      set(in_detail FALSE)
    elseif(line MATCHES "^ (private|protected):")
      set(hidden TRUE)
    elseif(line MATCHES "^ public:" OR line MATCHES "^}")
      set(hidden FALSE)
    endif()
    if(line MATCHES "^}")
      set(in_class FALSE)
    elseif(line MATCHES "^(class|struct) " AND NOT line MATCHES "@$")
      set(in_class TRUE)
    endif()
    if(hidden OR in_detail OR line MATCHES "^ *(//|return |friend )" OR (line MATCHES "^ " AND NOT in_class))
      continue()
    endif()
    # A function: the result, its name, a bracket.
    if(line MATCHES "^( ? ?)((static|inline|constexpr|virtual|explicit) )*(const )?(weft::)?(detail|proto|runtime)::[^()=]*[ &*](operator[^(]*|[a-z_]+)\\(" )
      message(SEND_ERROR "${header}: ${line}\n  returns a type that is not public: give it a name in weft/operations, or in weft")
      math(EXPR found "${found} + 1")
    endif()
  endforeach()
endforeach()
message(STATUS "${found} public functions return a type that is not public")
