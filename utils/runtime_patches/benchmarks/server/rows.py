"""The rows of the server benchmark. Each switches on one thing more than another row: the difference is its price."""

import dataclasses

# Of the 71 of swift-nio's own benchmark: sockets, event loops, futures, tasks and locks, and one each of what only
# works in memory.
_NIO = """
    asyncwriter_single_writes_1M_times asyncsequenceproducer_consume_1M_times tcp_100k_messages_throughput
    udp_10k_writes udp_10k_vector_reads_and_writes no-net_http1_1k_reqs_1_conn http1_1k_reqs_1_conn
    http1_1k_reqs_100_conns schedule_and_run_100k_tasks execute_100k_tasks runIfActive_8_threads_100k_tasks
    future_whenallsucceed_10k_deferred_off_loop future_reduce_10k_futures lock_4_threads_10M_ops
    channel_pipeline_1m_events websocket_encode_50b_space_at_front_100k_frames
    bytebuffer_write_http_response_ascii_only_as_string
""".split()

_LOGGER = "a line for a logger that writes nothing, with metadata from task-locals"
_CHANNELS = "an element through channels of async-algorithms: merge, chunked, debounce"
_ALL = ("spans=3", "cache", "children=4", "log", "session")


@dataclasses.dataclass(frozen=True)
class ServerRow:
    """kind: "http", "echo" (a server, and a load generator), "inside" (a loop without a network) or "nio".

    words: the server's parts, or the name of a loop; path: what the load generator asks for; count: of a loop.
    """

    name: str
    text: str
    kind: str
    words: tuple[str, ...] = ()
    path: str = "/"
    count: int = 0


_ROWS = (
    ServerRow("plain", "a request without task-locals: JSON only", "http"),
    *(ServerRow(f"bindings-{n}", f"plain, and {n} task-locals", "http", (f"bindings={n}",)) for n in (3, 10, 100)),
    ServerRow("spans", "plain, and three nested spans of one task-local that is rebound", "http", ("spans=3",)),
    ServerRow("cache", "plain, and an actor is asked", "http", ("cache",)),
    ServerRow("group", "plain, and a group of four children", "http", ("children=4",)),
    ServerRow("log", "plain, and a Task {} for the log", "http", ("log",)),
    ServerRow("session", "plain, and an object with an isolated deinit is thrown away", "http", ("session",)),
    ServerRow("all", "spans, cache, group, log and session", "http", _ALL),
    *(ServerRow(f"all-{n}", f"all, under {n} task-locals", "http", (*_ALL, f"bindings={n}")) for n in (3, 10, 100)),
    ServerRow("no-spans-10", "all-10 without spans", "http", (*_ALL[1:], "bindings=10")),
    ServerRow("no-cache-10", "all-10 without the actor", "http", (_ALL[0], *_ALL[2:], "bindings=10")),
    ServerRow("no-group-10", "all-10 without the group", "http", (*_ALL[:2], *_ALL[3:], "bindings=10")),
    ServerRow("no-session-10", "all-10 without the isolated deinit", "http", (*_ALL[:4], "bindings=10")),
    ServerRow("echo", "64 bytes over TCP, and back", "echo", (), "echo:64"),
    ServerRow("loop-spans", "three nested spans", "inside", ("spans",), count=300_000),
    ServerRow("loop-logger", _LOGGER, "inside", ("logger",), count=200_000),
    ServerRow("loop-stream", "an element through three AsyncStreams", "inside", ("stream",), count=100_000),
    ServerRow("loop-channels", _CHANNELS, "inside", ("channels",), count=20_000),
    *(ServerRow(f"nio-{name}", f"swift-nio's own benchmark, {name}", "nio", (name,)) for name in _NIO),
)
ROWS = {row.name: row for row in _ROWS}
