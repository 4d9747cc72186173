# SPDX-License-Identifier: Apache-2.0
# weft without its optional parts, where their packages cannot be found: as a folder of another project, and installed.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/first.cmake")

# pkg-config that finds what weft always needs, and nothing else.
file(REMOVE_RECURSE "${WORK}/pkgconfig" "${WORK}/prefix" "${WORK}/consumer")
foreach(module fmt nettle hogweed gmp)
  execute_process(COMMAND pkg-config --variable=pcfiledir ${module}
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(COPY "${folder}/${module}.pc" DESTINATION "${WORK}/pkgconfig")
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} "${WORK}/pkgconfig")
set(blind -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
  -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
set(off)
foreach(part URING TBB TLS VERBS QDMA PMIX OFI VIPL)
  list(APPEND off -DWEFT_WITH_${part}=OFF)
endforeach()
find_program(ccache ccache)
set(compilers "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_C_COMPILER=${CC}")
if(ccache)
  list(APPEND compilers "-DCMAKE_CXX_COMPILER_LAUNCHER=${ccache}")
endif()

take_first_program("${WORK}/first")
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/folder" -B "${WORK}/build" -G Ninja ${compilers} ${blind} ${off}
  "-DWEFT=${SOURCE}" "-DFIRST=${WORK}/first/first.cpp" -DWEFT_INSTALL=ON
  -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
run(${CMAKE_COMMAND} --build "${WORK}/build")
run_first_program("${BUILD}/bin/weft-run" "${WORK}/build/first")

# Asked for, a missing part is an error that names the package.
execute_process(COMMAND ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/folder" -B "${WORK}/refused" -G Ninja
  ${compilers} ${blind} ${off} -DWEFT_WITH_TBB=ON "-DWEFT=${SOURCE}" "-DFIRST=${WORK}/first/first.cpp"
  OUTPUT_QUIET ERROR_VARIABLE said RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT said MATCHES "WEFT_WITH_TBB=ON.*libtbb-dev")
  message(FATAL_ERROR "WEFT_WITH_TBB=ON without oneTBB ended with ${status} and said:\n${said}")
endif()

# Who uses the installed library needs no more, by the CMake package and by pkg-config.
set(prefix "${WORK}/prefix")
run(${CMAKE_COMMAND} --install "${WORK}/build" --prefix "${prefix}")
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${WORK}/consumer" -G Ninja ${compilers} ${blind}
  "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build "${WORK}/consumer")
foreach(program consumer consumer-of-coro consumer-in-c)
  run("${WORK}/consumer/${program}")
endforeach()
set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
execute_process(COMMAND pkg-config --cflags --libs --static weft
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run("${CXX}" -std=c++20 "${WORK}/first/first.cpp" -o "${WORK}/first/first" ${flags})
run_first_program("${BUILD}/bin/weft-run" "${WORK}/first/first")

# A header of the folder, which an installation without the part does not have, says so.
file(WRITE "${WORK}/first/qdma.cpp" "#include <weft/qdma.hpp>\n")
execute_process(COMMAND "${CXX}" -std=c++20 "-I${SOURCE}/include" -fsyntax-only "${WORK}/first/qdma.cpp" ${flags}
  ERROR_VARIABLE said RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT said MATCHES "WEFT_WITH_QDMA=ON")
  message(FATAL_ERROR "weft/qdma.hpp without qdma: ${said}")
endif()
