#!/usr/bin/env bash
# Packs what the GPU machine lacks into one folder: the installed product of a build folder (plugin, programs, the
# abseil libraries they need) and, in tools/, this machine's ip, tc and ss with their libraries.
#   tests/gpu/pack.sh [--build build/release] [--out build/gpu-bundle]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/release out=build/gpu-bundle
while (($#)); do
  case $1 in
    --build) build=${2:?"$1 needs a folder"} && shift 2 ;;
    --out) out=${2:?"$1 needs a folder"} && shift 2 ;;
    *)
      echo "pack.sh: unknown argument '$1'; expected --build FOLDER or --out FOLDER" >&2
      exit 2
      ;;
  esac
done
refuse() {
  echo "pack.sh: $1" >&2
  exit 2
}
[[ -f $build/cmake_install.cmake ]] || refuse "$build is not a configured build folder"
[[ ! -e $out || -e $out/tools/install.log ]] || refuse "$out is not a bundle: remove it, or name another --out"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/tools/bin" "$made/tools/lib"
if ! cmake --install "$build" --prefix "$made" --strip >"$made/tools/install.log" 2>&1; then
  tail -4 "$made/tools/install.log" >&2
  echo "pack.sh: build the targets first: ninja -C $build" >&2
  exit 1
fi

# For --dry-run only; the libraries that it needs are among the installed ones.
cp "$build/bin/routed_node" "$made/bin/" || refuse "build the targets first: ninja -C $build"

# What benchmarks report of the build.
python3 tools/bench/machine.py "$build" >"$made/built.json"

# The C library and its loader are those of the other machine: two versions cannot be mixed.
c_library='^(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libnsl)\.so'
for tool in ip tc ss; do
  path=$(PATH=$PATH:/usr/sbin:/sbin command -v "$tool") || refuse "$tool is not in PATH: install the package iproute2"
  cp -L "$path" "$made/tools/bin/$tool"
  ldd "$path" | awk '$2 == "=>" { print $3 }' | while read -r library; do
    [[ $(basename "$library") =~ $c_library ]] || cp -L "$library" "$made/tools/lib/"
  done
  cat >"$made/tools/$tool" <<'WRAPPER'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/lib exec "$here/bin/$(basename "$0")" "$@"
WRAPPER
  chmod +x "$made/tools/$tool"
done
rm -rf "$out"
mkdir -p "$(dirname "$out")"
cp -r "$made" "$out"
chmod 755 "$out"
echo "$out: $(du -sh "$out" | cut -f1), plugin $(sha256sum "$out/lib/libnccl-net-cableway.so" | cut -c1-12)"
