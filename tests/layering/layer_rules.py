"""What each layer may neither include nor call. Includes of other layers are in cmake/layers.cmake.

The patterns of includes match from the start of the path, those of code anywhere but in // comments. A layer that has
other_than() may include the C++ standard library and the libraries given there, and no header of the operating system.
"""

STANDARD = r"[a-z_]+$"
STANDARD_SYSTEM = r"(filesystem|fstream|iostream|cstdio|csignal|syncstream|print)$"
STANDARD_THREADS = r"(thread|future|stop_token)$"
STANDARD_LOCKS = r"(mutex|shared_mutex|condition_variable|atomic|semaphore|latch|barrier)$"


def other_than(libraries):
    return rf"(?!{STANDARD}|{libraries})"


CLOCKS = (
    r"\b(?:(steady|system|high_resolution|file|utc|tai|gps)_clock\b|absl::(Now|GetCurrentTimeNanos)\b|"
    r"(clock_gettime|gettimeofday|timespec_get|std::time|std::clock)\b|(?<![.>:])time\s*\(\s*(nullptr|NULL|0|&))"
)
# Differ between two runs with one seed.
ENTROPY = (
    r"\b(?:(random_device|getrandom|getentropy|arc4random\w*|randombytes\w*|\w+_keygen|rand_r|[dejlmn]rand48)\b|"
    r"s?rand\s*\(|std::s?rand\b|absl::\w*BitGen)"
)
RANDOM_ENGINES = (
    r"\b(mt19937(_64)?|minstd_rand0?|ranlux\w+|knuth_b|default_random_engine|"
    r"(mersenne_twister|linear_congruential|subtract_with_carry)_engine)\b"
)
THREADS = r"\b(std|boost)::(thread|jthread|async)\b|\b(pthread|thrd)_create\b"
# C's and the kernel's functions: any name after a bare "::", and without it the names that have no other meaning.
SYSTEM_CALLS = (
    r"\b(secure_getenv|getenv|setenv|putenv|environ|usleep|nanosleep|clock_nanosleep|sleep_for|sleep_until|syscall|"
    r'fopen|popen|getpid|gethostname|asm|__asm__|std::system)\b|\bfork\s*\(|\bextern\s+"C"|'
    r"(?<![\w>])::(?!sodium_|crypto_|strerrorname_np|\w+::)[a-z]\w*"
)
UNORDERED = r"absl/container/(flat|node)_hash_(map|set)\.h|absl/hash/"
GRAPH = r"boost/(graph/|property_map/)"
LOGGING = r"iostream$|spdlog/|syslog\.h"

UNORDERED_RULE = (UNORDERED, "its order differs between runs: use a std::map, a btree_map or a sorted vector")
GRAPH_RULE = (GRAPH, "Boost.Graph lives in routing")

# layer -> [(pattern of an included path, why)]; the first that matches is reported.
FORBIDDEN_INCLUDES = {
    "routing": [
        (LOGGING, "routing is pure: no logging"),
        (STANDARD_SYSTEM, "routing is pure: no kernel interfaces"),
        (rf"{STANDARD_THREADS}|{STANDARD_LOCKS}|absl/synchronization/", "routing is pure: no threads"),
        (r"(random|ctime)$|absl/(random|time)/", "routing is pure: no clock, no randomness"),
        UNORDERED_RULE,
        # arpa/inet.h: inet_pton is a function from text to bytes.
        (
            other_than(rf"absl/(status|strings)/|nlohmann/|toml\+\+/|{GRAPH}|arpa/inet\.h$"),
            "routing is pure: no kernel interfaces, and only the libraries in tests/layering/layer_rules.py",
        ),
    ],
    "core": [
        (STANDARD_SYSTEM, "only core/linux touches the kernel"),
        GRAPH_RULE,
        (rf"{STANDARD_THREADS}|pthread\.h$|boost/thread", "threads are created in core/linux"),
        (r"ctime$|absl/time/", "time comes from the Clock"),
        (r"random$|absl/random/", "a seed must reproduce a run: randomness is passed in"),
        UNORDERED_RULE,
        (
            other_than(r"absl/(status|strings)/|nlohmann/|sodium\.h$|isa-l/crc\.h$|boost/endian/"),
            "only core/linux touches the kernel; core uses only the libraries in tests/layering/layer_rules.py",
        ),
    ],
    "core/linux": [GRAPH_RULE],
    "nccl_adapter": [
        GRAPH_RULE,
        (r"absl/flags/", "flags in a library that is loaded beside a framework conflict with the framework's own"),
    ],
    "sim": [
        (STANDARD_SYSTEM, "the simulator uses no kernel interfaces"),
        GRAPH_RULE,
        (STANDARD_THREADS, "a simulated world has one thread"),
        (r"ctime$|absl/time/", "the simulator's time is virtual"),
        UNORDERED_RULE,
        (
            other_than(r"absl/(status|strings)/"),
            "the simulator uses no kernel interfaces, and only the libraries in tests/layering/layer_rules.py",
        ),
    ],
    "tools": [GRAPH_RULE],
}

# layer -> [(pattern in the code, why)]
FORBIDDEN_CODE = {
    "routing": [
        (CLOCKS, "routing reads no clock"),
        (f"{ENTROPY}|{RANDOM_ENGINES}", "routing is a pure function"),
        (THREADS, "routing creates no thread"),
        (SYSTEM_CALLS, "routing is pure: no kernel interfaces"),
    ],
    "core": [
        (CLOCKS, "time comes from the Clock"),
        (f"{ENTROPY}|{RANDOM_ENGINES}", "randomness is passed in"),
        (THREADS, "threads are created in core/linux"),
        (SYSTEM_CALLS, "only core/linux touches the kernel"),
    ],
    # Random engines are allowed: seeded, they repeat.
    "sim": [
        (CLOCKS, "the simulator's time is virtual"),
        (ENTROPY, "a seed must reproduce a run"),
        (THREADS, "a simulated world has one thread"),
        (SYSTEM_CALLS, "the simulator uses no kernel interfaces"),
    ],
}
