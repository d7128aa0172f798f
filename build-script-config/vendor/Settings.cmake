# Upstream's hook for further settings (Runtimes/Core/CMakeLists.txt), which are read before any target is declared.

# Without it none of the conformances in libswift_Concurrency is registered.
cmake_language(DEFER CALL target_link_libraries swift_Concurrency PRIVATE swiftrt)

# How upstream's build compiles the toolchain's libraries (AddSwiftStdlib.cmake, Concurrency/CMakeLists.txt): profilers
# follow frame pointers through a stack, in which no function of a task may mark the one that it saves for its caller.
# observer.sh reads them from the cache.
set(_flags -fno-omit-frame-pointer -fswift-async-fp=never)
if(SwiftCore_ARCH_SUBDIR STREQUAL "x86_64")
  list(APPEND _flags -march=core2)
endif()
set(TOOLCHAIN_FLAGS "${_flags}" CACHE INTERNAL "")
add_compile_options(
  "$<$<COMPILE_LANGUAGE:C,CXX>:${TOOLCHAIN_FLAGS}>"
  "$<$<COMPILE_LANGUAGE:Swift>:SHELL:-Xcc -fno-omit-frame-pointer>")
