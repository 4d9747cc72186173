# SPDX-License-Identifier: Apache-2.0
# Fails when code on the way from a channel's end to that of an operation has other names for it than those of
# docs/glossary.md, "Ends": one who follows an end searches for few words.
cmake_minimum_required(VERSION 3.25)

set(folders wireup/loop wireup/channel wireup/manager connections proto/connection proto/peer proto/calls)
set(verbs "gone|died|dies|lose|loses|finish|finished|parting|parted|perish|perished")
foreach(folder IN LISTS folders)
  file(GLOB sources RELATIVE "${SOURCE}" "${SOURCE}/src/${folder}/*.?pp")
  if(NOT sources)
    message(SEND_ERROR "tests/docs/verbs_of_ends.cmake: src/${folder} has no sources; name the folder that has them")
  endif()
  foreach(file IN LISTS sources)
    file(STRINGS "${SOURCE}/${file}" lines REGEX "(^|[^A-Za-z0-9])([a-z_]*_)?(${verbs})(_[a-z_]*)?\\(")
    foreach(line IN LISTS lines)
      message(SEND_ERROR "${file}: `${line}`: say end, fail, give up or close (docs/glossary.md, \"Ends\")")
    endforeach()
  endforeach()
endforeach()
