"""A small tree that passes check_layers.py, and the faults that check_layers_test.py plants in it."""

import re

# (planted fault, file, its text, expected report)
PLANTED = [
    ("a forbidden include", "routing/bad.cc", '#include "core/node.h"\n', "layer routing may not use layer core "),
    ("the same in angle brackets", "routing/bad.cc", "#include <core/node.h>\n", "layer routing may not use layer core "),
    ("sim over core/linux", "sim/bad.h", '#include "core/linux/socket.h"\n', "layer sim may not use layer core/linux"),
    ("core over core/linux", "core/bad.cc", '#  include "core/linux/socket.h"\n', "layer core may not use layer core/linux"),
    ("a folder over a higher one", "core/flow/bad.cc", '#include "core/relay/relay.h"\n',
     "folder core/flow may not use folder core/relay (core/relay/relay.h)"),
    ("the layer's root over a folder", "core/bad.cc", '#include "core/flow/flow.h"\n', "folder core may not use folder core/flow"),
    ("a layer over tools", "core/linux/bad.cc", '#include "tools/cableway/main.h"\n', "may not use layer tools"),
    ("a layer over the tests", "core/bad.cc", '#include "tests/core/fake.h"\n', "may not use tests"),
    ("sockets in routing", "routing/bad.cc", "#include <sys/socket.h>\n", "layer routing may not include <sys/socket.h>"),
    ("a mutex in routing", "routing/bad.cc", "#include <mutex>\n", "may not include <mutex>"),
    ("logging in routing", "routing/bad.cc", "#include <spdlog/spdlog.h>\n", "no logging"),
    ("iostream in routing", "routing/bad.cc", "#include <iostream>\n", "no logging"),
    ("a clock in routing", "routing/bad.cc", "auto t = std::chrono::steady_clock::now();\n", "routing reads no clock"),
    ("randomness in routing", "routing/bad.cc", "#include <random>\n", "no randomness"),
    ("Asio in core", "core/bad.cc", "#include <boost/asio.hpp>\n", "only core/linux touches the kernel"),
    ("unistd in core", "core/bad.cc", "#include <unistd.h>\n", "only core/linux touches the kernel"),
    ("netlink in core", "core/bad.cc", "#include <netlink/route/link.h>\n", "only core/linux touches the kernel"),
    ("a thread in core", "core/bad.cc", "std::thread worker;\n", "threads are created in core/linux"),
    ("a hash map in core", "core/bad.cc", '#include "absl/container/flat_hash_map.h"\n', "its order differs"),
    ("a clock in sim", "sim/bad.cc", "absl::Time t = absl::Now();\n", "time is virtual"),
    ("Boost.Graph in tools", "tools/bad.cc", "#include <boost/graph/adjacency_list.hpp>\n", "Boost.Graph lives in routing"),
    ("flags in the plugin", "nccl_adapter/bad.cc", '#include "absl/flags/flag.h"\n', "flags in a library"),
    ("a way around a layer", "sim/bad.cc", '#include "core/../core/linux/socket.h"\n', "'..', '.', '//' or a leading '/' in an include"),
    ("a layer's own path from the root", "core/bad.cc", '#include "/core/node.h"\n', "a leading '/' in an include"),
    ("a way around a pattern", "core/bad.cc", "#include <./unistd.h>\n", "'.', '//' or a leading '/' in an include"),
    ("a kernel header of one architecture", "core/bad.cc", "#include <x86_64-linux-gnu/sys/socket.h>\n", "only core/linux"),
    ("a bridge through a folder of no layer", "core/bad.h", '#include "shared_code/fd.h"\n', "fd.h, which is in no layer"),
    ("the same in angle brackets", "core/bad.h", "#include <shared_code/fd.h>\n", "shared_code/fd.h, which is in no layer"),
    ("a bridge through cmake/", "routing/bad.h", '#include "cmake/fd.h"\n', "cmake/fd.h, which is in no layer"),
    ("a bridge through docs/", "sim/bad.h", '#include "docs/fd.h"\n', "docs/fd.h, which is in no layer"),
    ("a bridge through the build folder", "sim/bad.h", '#include "build/release/common.h"\n', "which is in no layer"),
    ("a header beside another search path", "sim/bad.h", '#include "linux/socket.h"\n', "layer sim may not include <linux/"),
    ("an included file that is no header", "core/bad.cc", '#include "core/CMakeLists.txt"\n', "headers end in .h"),
    ("a source of another suffix", "core/bad.hpp", "", "suffix .hpp"),
    ("the same in the tests", "tests/core/bad.hpp", "", "suffix .hpp"),
    ("a table of macros", "core/flow/bad.def", '#include "core/linux/socket.h"\n', "suffix .def"),
    ("templates", "core/flow/bad.tcc", '#include "core/linux/socket.h"\n', "suffix .tcc"),
    ("no suffix", "core/flow/bad", '#include "core/linux/socket.h"\n', "suffix (none)"),
    ("an include of a macro", "core/bad.cc", '#define H "core/linux/socket.h"\n#include H\n', ":2: no plain #include"),
    ("a comment before an include", "core/bad.cc", '/**/#include "core/linux/socket.h"\n', "no plain #include"),
    ("a comment in an include", "core/bad.cc", '#include/**/"core/linux/socket.h"\n', "no plain #include"),
    ("a comment after the #", "core/bad.cc", '# /*\n*/ include "core/linux/socket.h"\n', ":1: no plain #include"),
    ("a comment that ends", "core/bad.cc", '/*\n*/#include "core/linux/socket.h"\n', ":2: no plain #include"),
    ("a digraph", "core/bad.cc", '%:include "core/linux/socket.h"\n', "no plain #include"),
    ("an import", "core/bad.cc", '#import "core/linux/socket.h"\n', "no plain #include"),
    ("an include_next", "core/bad.cc", "#include_next <sys/socket.h>\n", "no plain #include"),
    ("a continued include", "core/bad.cc",
     '\n#inc\\\nlude \\\n"core/linux/socket.h"\n', ":2: layer core may not use layer core/linux"),
    ("a test outside its folder", "tests/core/flow_test.cc", "", "move it to tests/core/flow"),
    ("an include from the own folder", "core/bad.cc", '#include "node.h"\n', 'write "core/node.h"'),
    ("an empty file name", "core/string_util.cc", "", "'util' in a name"),
    ("an empty folder name", "tests/core/common/x.cc", "", "'common' in a name"),
    ("a manager", "tests/core/session-manager.h", "", "'manager' in a name"),
    ("a long file", "tests/core/long.cc", "\n" * 521, "521 lines"),
    ("a path of this machine", "docs/x.md", "see ../sh" "ared/x.md\n", "developer's machine"),
]

# Lines of one source, which is to be refused in each of these layers: (line, layers)
PLANTED_CODE = [
    ("#include <filesystem>", "core routing sim"),
    ("#include <fstream>", "core routing sim"),
    ("#include <cstdio>", "core routing sim"),
    ("#include <stdio.h>", "core routing sim"),
    ("#include <dirent.h>", "core routing sim"),
    ("#include <spawn.h>", "core routing sim"),
    ("#include <syscall.h>", "core routing sim"),
    ("#include <rdma/rdma_cma.h>", "core routing sim"),
    ('#include "absl/time/clock.h"', "core routing sim"),
    ("#include <absl/time/clock.h>", "core routing sim"),
    ("#include <boost/thread.hpp>", "core routing sim"),
    ("#include <thread>", "core routing sim"),
    ("#include <ctime>", "core routing sim"),
    ("#include <random>", "core routing"),
    ("auto t = std::time(nullptr);", "core routing sim"),
    ("auto t = ::time(nullptr);", "core routing sim"),
    ("auto t = time(NULL);", "core routing sim"),
    ("auto now = &std::time;", "core routing sim"),
    ("auto t = absl::GetCurrentTimeNanos();", "core routing sim"),
    ('log("http://host"); auto t = std::chrono::steady_clock::now();', "core routing sim"),
    ("auto t = std::chrono::steady_\\\nclock::now();", "core routing sim"),
    ("usleep(1);", "core routing sim"),
    ("std::this_thread::sleep_for(second);", "core routing sim"),
    ('auto* home = std::getenv("HOME");', "core routing sim"),
    ("::getrandom(bytes, size, 0);", "core routing sim"),
    ("auto got = ::read(fd, bytes, size);", "core routing sim"),
    ("auto child = fork();", "core routing sim"),
    ('__asm__ volatile("syscall");', "core routing sim"),
    ('extern "C" int socket(int, int, int);', "core routing sim"),
    ("auto draw = std::rand;", "core routing sim"),
    ("std::random_device device;", "core routing sim"),
    ("absl::BitGen bits;", "core routing sim"),
    ("::randombytes_buf(bytes, size);", "core routing sim"),
    ("std::minstd_rand engine;", "core routing"),
    ("std::ranlux48 engine;", "core routing"),
    ("std::mt19937_64 engine;", "core routing"),
]

# Must not be reported: looks like a fault, but is allowed.
INNOCENT = {
    "routing/fine.cc": '#include "routing/topology.h"\n#include <boost/graph/adjacency_list.hpp>\n// steady_clock\n',
    "core/fine.cc": '#include "routing/topology.h"\n#include "core/node.h"\n#include <mutex>\n',
    "core/relay/fine.cc": '#include "core/flow/flow.h"\n#include "core/node.h"\n',
    "core/plain.cc": 'bytes.time(0); ::sodium_memzero(bytes); ::cableway::run("fork"); // getenv\n'
                     "Timer::time(now); std::time_t t;\n",
    "sim/fine.cc": "#include <random>\nstd::mt19937_64 engine(seed);\n",
    "tools/cableway/clock.cc": "#include <rdma/rdma_cma.h>\nauto t = std::time(nullptr);\n",
    "core/linux/clock.cc": "#include <fstream>\nauto t = ::time(nullptr);\n",
    "core/__pycache__/tool.pyc": "",
    "core/CMakeLists.txt": "",
    "tools/README.md": "",
    "tests/golden/report.golden": "",
    "tests/fuzz/corpus/common": "",
    # Of no layer: refused where a layer includes it.
    "shared_code/fd.h": '#include "core/linux/socket.h"\n',
    "cmake/fd.h": '#include "core/linux/socket.h"\n',
    "docs/fd.h": '#include "core/linux/socket.h"\n',
    "core/linux/fine.cc": '#include "core/node.h"\n#include <sys/socket.h>\n#include <thread>\n',
    "nccl_adapter/fine.cc": '#include "core/linux/socket.h"\n',
    "tools/cableway/fine.cc": '#include "nccl_adapter/net.h"\n#include <iostream>\n',
    "core/utility_of_path.cc": "",
    "build/release/common.h": "",
    "tests/core/flow/flow_test.cc": "",
    "tests/system/relay_test.cc": "",
}

LAYERS = """
function(cableway_layer_uses layer)
endfunction()
cableway_layer_uses(routing)
cableway_layer_uses(core routing)
cableway_layer_uses(core/linux routing core)
cableway_layer_uses(nccl_adapter routing core core/linux)
cableway_layer_uses(sim routing core)
cableway_layer_uses(tools routing core core/linux nccl_adapter sim)
"""
FOLDERS = """
cableway_folder_uses(routing)
cableway_folder_uses(core)
cableway_folder_uses(core/flow)
cableway_folder_uses(core/relay core core/flow)
cableway_folder_uses(core/linux)
cableway_folder_uses(nccl_adapter)
cableway_folder_uses(sim)
cableway_folder_uses(tools)
cableway_folder_uses(tools/cableway)
"""


def plant_rows(folder, folders):
    rows = "".join(f"| `{each}` | what it does |\n" for each in folders)
    plant(folder, "docs/architecture.md", f"# Architecture\n\n## Folders\n\n{rows}\n## Glossary\n\n| `word` | what it means |\n")


def make_tree(folder, tables=LAYERS + FOLDERS):
    plant(folder, "cmake/layers.cmake", tables)
    plant_rows(folder, re.findall(r"folder_uses\(([^ )]+)", tables))
    for path in (
        "routing/topology.h",
        "core/node.h",
        "core/flow/flow.h",
        "core/relay/relay.h",
        "core/linux/socket.h",
        "nccl_adapter/net.h",
        "sim/world.h",
        "tools/tool.h",
        "tools/cableway/main.h",
        "tests/core/fake.h",
    ):
        plant(folder, path, "")
    for path, text in INNOCENT.items():
        plant(folder, path, text)


def plant(folder, path, text):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")
