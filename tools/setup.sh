#!/usr/bin/env bash
# Installs the missing dependencies for building, running and testing Cableway.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: tools/setup.sh [--all] [--arm64] [--verbs] [--check]

Installs the missing packages to build and run Cableway, on Debian 12, Ubuntu 24.04 and later. Installed packages are
not changed. Uses sudo if not run as root.

  --all     also the needs of `tools/test.sh --all`: clang with its tools and linker, mpirun, shellcheck, on Debian
            chromium (Ubuntu has it only as a snap), programs of others that tests run (netplan, nmcli, promtool and
            sshd go to build/other_programs, not into the system), and what --arm64 has
  --arm64   also an arm64 cross-compiler with emulator and libraries (the libraries go to build/arm64-sysroot, not into
            the system); nothing on arm64 itself
  --verbs   also the needs of tools/lab/softroce and `tools/test.sh --verbs`: QEMU, tools for RDMA devices, and on Debian
            the kernel that the lab's guests run (it goes to build/softroce, not into the system)
  --check   install nothing; list missing packages, and exit with 1 if there are any
END
}

all=false arm64=false verbs=false check=false
for argument in "$@"; do
  case $argument in
    --all) all=true arm64=true ;;
    --arm64) arm64=true ;;
    --verbs) verbs=true ;;
    --check) check=true ;;
    --help | -h) usage && exit 0 ;;
    *) echo "setup: unknown argument '$argument'; tools/setup.sh --help lists them" >&2 && exit 2 ;;
  esac
done

# package, or package:command if the command may come from any source
packages=(
  g++:g++ gcc:gcc cmake:cmake ninja-build:ninja ccache:ccache
  libabsl-dev libbenchmark-dev libboost-dev libcli11-dev libfmt-dev libgmock-dev libgtest-dev libibverbs-dev libisal-dev
  libnl-3-dev libsodium-dev libspdlog-dev libsystemd-dev libtomlplusplus-dev nlohmann-json3-dev
  dpkg-dev:dpkg-source fish:fish groff-base:groff iproute2:ip iputils-ping:ping mmdebstrap:mmdebstrap nftables:nft
  patch:patch procps:ps python3:python3 python3-yaml spin:spin util-linux:unshare zsh:zsh
)
if [[ $(uname -m) == aarch64 ]]; then
  arm64=false
fi
if $arm64; then
  packages+=(g++-aarch64-linux-gnu:aarch64-linux-gnu-g++ qemu-user-static:qemu-aarch64-static)
fi
if $all; then
  packages+=(clang:clang++ lld:ld.lld clang-format-14:clang-format-14 clang-tidy-14:clang-tidy-14
    openmpi-bin:mpirun openssh-client:ssh shellcheck:shellcheck)
  if grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then
    packages+=(chromium:chromium fonts-dejavu-core)
  fi
fi
if $verbs; then
  packages+=(ibverbs-providers ibverbs-utils:ibv_devinfo perftest:ib_write_bw)
  # Guests of the other architecture are made on request (tools/lab/softroce run --arch).
  if [[ $(uname -m) == aarch64 ]]; then
    packages+=(qemu-system-arm:qemu-system-aarch64)
    guests=(arm64)
  else
    packages+=(qemu-system-x86:qemu-system-x86_64)
    guests=(amd64)
  fi
fi

if ! command -v dpkg-query apt-get >/dev/null; then
  echo "setup: this machine has no apt. Install the equivalents of these packages, then build: ${packages[*]%%:*}" >&2
  exit 1
fi

PATH=$PATH:/usr/sbin:/sbin
missing=()
find_missing() {
  missing=()
  local entry package command
  for entry in "${packages[@]}"; do
    package=${entry%%:*} command=${entry#*:}
    if [[ $command != "$entry" ]] && command -v "$command" >/dev/null; then
      continue
    fi
    if [[ $(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null) != *installed* ]]; then
      missing+=("$package")
    fi
  done
  # The package of the sanitizer and fuzzer runtimes is named after the version of `clang`.
  if $all && command -v clang >/dev/null &&
    [[ ! -e $(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a") ]]; then
    missing+=("libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev")
  fi
}

sysroot=true
if $arm64 && ! tools/arm64_sysroot.sh --check; then
  sysroot=false
fi
other_programs=true
if $all && ! tools/other_programs.sh --check; then
  other_programs=false
fi
# Guest architectures of the lab without images. Only Debian has the packages that images are made of.
missing_images=()
if $verbs && grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then
  for guest in "${guests[@]}"; do
    command -v python3 >/dev/null && tools/lab/softroce images --arch "$guest" --check || missing_images+=("$guest")
  done
fi

find_missing
if $check; then
  if ((${#missing[@]} == 0)) && $sysroot && $other_programs && ((${#missing_images[@]} == 0)); then
    echo "setup: nothing is missing"
    exit 0
  fi
  ((${#missing[@]} == 0)) || echo "setup: missing packages: ${missing[*]}"
  $sysroot || echo "setup: missing build/arm64-sysroot (create it with tools/arm64_sysroot.sh)"
  $other_programs || echo "setup: missing build/other_programs (create it with tools/other_programs.sh)"
  ((${#missing_images[@]} == 0)) || echo "setup: missing images in build/softroce for ${missing_images[*]}" \
    "(create them with tools/lab/softroce images --arch)"
  exit 1
fi

mkdir -p build
log=build/setup.log
as_root=()
apt() { # <description> <arguments of apt-get>
  echo "setup: $1"
  shift
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
    -o Acquire::Retries=3 "$@" </dev/null >>"$log" 2>&1
}

install_missing() {
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; }; then
      echo "setup: installing needs root, and sudo is not available. Run as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  : >"$log"
  apt "reading the package lists" update ||
    echo "setup: some package lists could not be read (see $log); trying with the others"
  apt "installing ${missing[*]}" install --no-install-recommends "${missing[@]}" || {
    tail -n 20 "$log" >&2
    echo "setup: apt could not install ${missing[*]} (full output: $log)." \
      "Debian 12 and Ubuntu 24.04 with the universe component provide them all" >&2
    exit 1
  }
}

# Twice, because the runtimes' package depends on the version of clang.
for _ in 1 2; do
  if ((${#missing[@]} > 0)); then
    install_missing
    hash -r
    find_missing
  fi
done
if ((${#missing[@]} > 0)); then
  echo "setup: still missing after the installation: ${missing[*]}" >&2
  exit 1
fi

if ! $sysroot; then
  echo "setup: unpacking the arm64 libraries into build/arm64-sysroot"
  tools/arm64_sysroot.sh
fi
if ! $other_programs; then
  echo "setup: unpacking netplan, nmcli, promtool and sshd into build/other_programs"
  tools/other_programs.sh || echo "setup: the tests that need them are skipped"
fi
for guest in "${missing_images[@]}"; do
  echo "setup: creating the images of the soft-RoCE lab's $guest guests in build/softroce"
  tools/lab/softroce images --arch "$guest" >/dev/null
done
have=$(cmake --version | sed -n 's/^cmake version //p')
if [[ $(printf '%s\n3.25\n' "$have" | sort -V | head -n 1) != 3.25 ]]; then
  echo "setup: CMake $have ($(command -v cmake)) is too old: 3.25 is needed, as in Debian 12 and Ubuntu 24.04" >&2
  exit 1
fi
echo "setup: complete"
