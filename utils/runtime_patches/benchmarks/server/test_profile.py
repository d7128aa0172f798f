"""Which part a sample of perf is counted for."""

import unittest
from pathlib import Path
from typing import Any, cast
from unittest import mock

from ...base.errors import UserError
from . import profile

SAID = """\
    7f0000001000 swift_retain (/b/runtimes/after/lib/swift/linux/libswiftCore.so)
    7f0000001008 swift_retain (/b/runtimes/after/lib/swift/linux/libswiftCore.so)
        55550100 $s7NIOCore10ByteBufferV5clearyyF (/b/clients/server/server)
ffffffff821e8f67 [unknown] ([kernel.kallsyms])
    7f0000001000 [unknown] ([unknown])
"""


class Profile(unittest.TestCase):
    def test_samples(self) -> None:
        core = "/b/runtimes/after/lib/swift/linux/libswiftCore.so"
        found = profile.samples(SAID)
        self.assertEqual(found[core, "swift_retain"], 2)
        self.assertEqual(found["[kernel.kallsyms]", "[unknown]"], 1)
        self.assertEqual(sum(found.values()), 5)

    def test_libraries(self) -> None:
        for wanted, file, symbol in (
            ("kernel", "[kernel.kallsyms]", "tcp_sendmsg"),
            ("kernel", "[vdso]", "clock_gettime"),
            ("swiftCore", "/b/libswiftCore.so", "malloc_of_its_own"),
            ("Concurrency", "/b/libswift_Concurrency.so", "swift_task_create"),
            ("Dispatch", "/b/libdispatch.so", "_dispatch_worker_thread"),
            ("Foundation", "/b/lib_FoundationICU.so", "u_init"),
            ("malloc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "_int_free_chunk"),
            ("malloc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "cfree@GLIBC_2.2.5"),
            ("malloc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "cfree"),
            ("libc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "freeaddrinfo"),
            ("libc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "__memmove_avx_unaligned_erms"),
            ("NIO", "/b/server", "$s7NIOCore10ByteBufferV5clearyyF"),
            ("NIO", "/b/server", "c_nio_llhttp_execute"),
            ("program", "/b/server", "$s6server4MainV"),
            ("other", "/b/libswiftSynchronization.so", "$s15Synchronization"),
            ("other", "[unknown]", "[unknown]"),
        ):
            self.assertEqual(profile.library(file, symbol), wanted, (file, symbol))

    def test_kinds(self) -> None:
        for wanted, *symbols in (
            ("retain, release", "swift_retain_n", "_swift_release_dealloc", "swift_bridgeObjectRelease"),
            ("retain, release", "swift_isUniquelyReferenced_nonNull_native", "swift_weakLoadStrong"),
            ("allocation", "swift_allocObject", "swift_slowDealloc", "swift_task_alloc", "swift_deallocClassInstance"),
            ("casts", "swift_dynamicCast", "_ZL7tryCastPN5swift11OpaqueValueEPKNS_14TargetMetadataE"),
            ("metadata", "swift_getGenericMetadata", "swift_getAssociatedTypeWitness"),
            ("conformances", "swift_conformsToProtocolCommon"),
            ("tasks", "swift_task_create_common", "_ZN12_GLOBAL__N_113TaskGroupBase5offerEPN5swift9AsyncTaskE"),
            ("enqueue, resume", "swift_task_enqueueGlobal", "swift_continuation_resume", "swift_task_switch"),
            ("enqueue, resume", "_ZN5swift9AsyncTask10waitFutureEPS0_PNS_12AsyncContextEPFvPS2_EPNS_11OpaqueValueE"),
            ("actors", "_ZN12_GLOBAL__N_116DefaultActorImpl5drainEv", "swift_defaultActor_enqueue"),
            ("task-locals", "swift_task_localValuePush", "_ZN5swift9TaskLocal7Storage8getValueEPNS_9AsyncTaskE"),
            ("locks", "_ZN5swift20withStatusRecordLockIZ", "swift_once"),
            ("Swift code", "$sSa6appendyyxnF", "$sScCMa"),
            ("exclusivity", "swift_beginAccess"),
            ("other", "swift_somethingElse", "[unknown]"),
        ):
            for symbol in symbols:
                self.assertEqual(profile.kind(symbol), wanted, symbol)

    def test_the_parts_make_the_whole(self) -> None:
        seen = {("/b/libswiftCore.so", "swift_retain"): 1, ("[vdso]", "x"): 2, ("/b/s", "$s3NIO"): 1}
        parts = profile.by_library(8.0, seen)
        self.assertEqual({name: us for name, us in parts.items() if us}, {"swiftCore": 2, "kernel": 4, "NIO": 2})
        self.assertEqual({name: us for name, us in profile.by_kind(8.0, seen).items() if us}, {"retain, release": 2})

    def test_no_perf(self) -> None:
        watch = profile.Watch(cast(Any, None), 1, Path("/nowhere"))
        with mock.patch("shutil.which", return_value=None), self.assertRaises(UserError) as error:
            watch.__enter__()
        self.assertEqual(error.exception.message, "perf is not installed")
