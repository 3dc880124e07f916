#!/bin/sh
# empty_root.sh BUILD WORK VERSION READELF EMULATOR COMPILER...: creates the package of BUILD, unpacks it into a root that
# has only the C and C++ runtimes, and loads and runs it there. EMULATOR is a static qemu, or "native".
set -eu
build=$1 work=$2 version=$3 readelf=$4 emulator=$5
shift 5
PATH=$PATH:/usr/sbin:/sbin

fail() {
  echo "empty_root: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work/root/lib" "$work/root/opt" "$work/root/proc"
root=$work/root

cpack -G TGZ --config "$build/CPackConfig.cmake" -B "$work/package" >"$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log" >&2; fail "cpack failed"; }
tar -xzf "$work/package/"cableway-*.tar.gz -C "$root/opt"
home=$(cd "$root/opt" && echo cableway-*)
for file in lib/libnccl-net-cableway.so bin/cablewayd bin/cableway bin/collperf share/doc/cableway/LICENSE \
  share/doc/cableway/settings.md lib/systemd/system/cablewayd.service lib/sysusers.d/cableway.conf \
  share/man/man1/cableway.1 share/man/man1/cableway-plan-ranks.1 share/man/man5/cableway.toml.5 share/man/man8/cablewayd.8 \
  share/bash-completion/completions/cableway share/zsh/site-functions/_cableway \
  share/fish/vendor_completions.d/cableway.fish; do
  [ -e "$root/opt/$home/$file" ] || fail "the package lacks $file"
done
cp "$build/bin/dlopen_plugin" "$root/"

# The libraries that the package may expect; it must contain all others that it needs.
for library in $("$readelf" -d "$root/opt/$home/"bin/* "$root/opt/$home/"lib/*.so* | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
  case $library in
    libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | libpthread.so.0 | libdl.so.2 | librt.so.1) ;;
    ld-linux*) ;;
    *) [ -e "$root/opt/$home/lib/$library" ] || fail "the package needs $library, but does not contain it" ;;
  esac
done
for library in libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1 libpthread.so.0 libdl.so.2 librt.so.1; do
  cp -L "$("$@" -print-file-name=$library)" "$root/lib/$library"
done
loader=$("$readelf" -l "$root/dlopen_plugin" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
mkdir -p "$root$(dirname "$loader")"
cp -L "$("$@" -print-file-name="$(basename "$loader")")" "$root$loader"
if [ "$emulator" != native ]; then
  cp "$(command -v "$emulator")" "$root/emulator"
fi

enter=$work/enter
cat >"$enter" <<'END'
#!/bin/sh
mount --rbind /proc "$1/proc" && exec chroot "$@"
END
chmod +x "$enter"

# The loader finds $ORIGIN of a program through /proc, so the root needs one.
in_root() {
  if [ "$emulator" != native ]; then
    set -- /emulator "$@"
  fi
  if [ "$(id -u)" = 0 ]; then
    set -- --mount "$enter" "$root" "$@"
  else
    set -- --mount --user --map-root-user "$enter" "$root" "$@"
  fi
  env -i PATH="$PATH" unshare "$@"
}

if [ "$(id -u)" != 0 ] && ! unshare --user --map-root-user true 2>/dev/null; then
  fail "this system allows no user namespaces: run with sudo"
fi
in_root /dlopen_plugin "/opt/$home/lib/libnccl-net-cableway.so"
for program in cablewayd cableway; do
  output=$(in_root "/opt/$home/bin/$program" --version) || fail "$program --version failed: $output"
  case $output in
    *"$version"*) ;;
    *) fail "$program --version printed '$output', expected $version" ;;
  esac
done
# Reading a key needs libsodium.
echo 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f >"$root/key"
chmod 600 "$root/key"
output=$(in_root "/opt/$home/bin/cablewayd" --check-config --node n0 --ports lo --key-file /key) ||
  fail "cablewayd --check-config failed: $output"
case $output in
  *"/key"*"--key-file"*) ;;
  *) fail "cablewayd --check-config printed '$output', expected the key file among the settings" ;;
esac
in_root "/opt/$home/bin/collperf" --help >/dev/null || fail "collperf --help failed"

# Checks that the root has no libraries of its own: without the package's libraries, nothing loads.
mkdir "$root/aside"
mv "$root/opt/$home/"lib/libabsl_* "$root/aside/"
if in_root /dlopen_plugin "/opt/$home/lib/libnccl-net-cableway.so" 2>"$work/refused.log"; then
  fail "the plugin loads without the package's abseil: this root is not empty"
fi
grep -q libabsl_ "$work/refused.log" || fail "expected a missing libabsl, got: $(cat "$work/refused.log")"
