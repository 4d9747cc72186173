# SPDX-License-Identifier: Apache-2.0
# Installs weft into an empty folder, then builds and runs a project that knows only that folder.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/first.cmake")

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")
run(${CMAKE_COMMAND} --install "${BUILD}" --config "${CONFIG}" --prefix "${prefix}")

run(${CMAKE_COMMAND} -S "${CONSUMER}" -B "${WORK}/build" -G Ninja "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_C_COMPILER=${CC}"
  "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build "${WORK}/build")
run("${WORK}/build/consumer")
run("${WORK}/build/consumer-of-coro")
run("${WORK}/build/consumer-of-interop")

# The first page of README.md.
take_first_program("${WORK}/first")
run(${CMAKE_COMMAND} -S "${WORK}/first" -B "${WORK}/first/build" -G Ninja "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_PREFIX_PATH=${prefix}")
run(${CMAKE_COMMAND} --build "${WORK}/first/build")
if(EXISTS "${prefix}/bin/weft-run")
  run_first_program("${prefix}/bin/weft-run" "${WORK}/first/build/first")
endif()

# The experiments of the papers, which know the installed interface only.
if(EXISTS "${prefix}/bin/weft-bench")
  run(${CMAKE_COMMAND} -S "${SOURCE}/bench/papers" -B "${WORK}/papers" -G Ninja "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_CXX_FLAGS=-O0)
  run(${CMAKE_COMMAND} --build "${WORK}/papers")
  run(${CMAKE_COMMAND} --install "${WORK}/papers" --prefix "${prefix}")
  run("${prefix}/bin/weft-report" --list)
endif()

# A transport of another library, by the installed interface.
run(${CMAKE_COMMAND} -S "${SOURCE}/samples/datagram" -B "${WORK}/datagram" -G Ninja "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build "${WORK}/datagram")
if(EXISTS "${prefix}/bin/weft-run")
  run("${prefix}/bin/weft-run" -n 2 "${WORK}/datagram/datagram_hello")
endif()

set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
execute_process(COMMAND pkg-config --cflags --libs --static weft
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run("${CXX}" -std=c++20 -O2 "${CONSUMER}/main.cpp" -o "${WORK}/by-pkg-config" ${flags})
run("${WORK}/by-pkg-config")

# From C, by pkg-config and by the CMake package.
execute_process(COMMAND pkg-config --cflags --libs weft-c
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run("${CC}" -std=c99 -pedantic -Wall -Wextra -Werror "${CONSUMER}/main.c" -o "${WORK}/in-c" ${flags}
  "-Wl,-rpath,${prefix}/${LIBDIR}")
run("${WORK}/in-c")
run("${WORK}/build/consumer-in-c")

# MPI on the installed library.
find_program(mpirun mpirun.openmpi)
if(MPI AND mpirun)
  run("${prefix}/bin/weft-mpirun" --verify)
endif()
