# Upstream's hook for further settings (Runtimes/Core/CMakeLists.txt), which are read before any target is declared.

# Without it none of the conformances in libswift_Concurrency is registered.
cmake_language(DEFER CALL target_link_libraries swift_Concurrency PRIVATE swiftrt)

# How upstream's build compiles the toolchain's libraries (AddSwiftStdlib.cmake, Concurrency/CMakeLists.txt): profilers
# follow frame pointers through a stack, in which no function of a task may mark the one that it saves for its caller.
add_compile_options(
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer;-fswift-async-fp=never>"
  "$<$<COMPILE_LANGUAGE:Swift>:SHELL:-Xcc -fno-omit-frame-pointer>")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-march=core2>)
endif()
