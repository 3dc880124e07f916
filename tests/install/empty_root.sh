#!/bin/sh
# empty_root.sh FROM WORK VERSION READELF EMULATOR COMPILER...: loads and runs an installation in a root that has only the
# C runtime, and the C++ runtime where the installation needs it. FROM is a build folder, which is installed, or a tarball
# or .deb of tools/package.sh, which is unpacked; EMULATOR is a static qemu, or "native". The variable DLOPEN_PLUGIN is the
# path of the test's program, by default in the build folder; SYSROOT has the system's libraries for another architecture.
set -eu
from=$1 work=$2 version=$3 readelf=$4 emulator=$5
shift 5
PATH=$PATH:/usr/sbin:/sbin

fail() {
  echo "empty_root: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work/root/lib" "$work/root/opt" "$work/root/proc"
root=$work/root
home=/opt/cableway gz='' links=/opt/cableway/lib license=LICENSE zsh=site-functions settings=/opt/cableway/share/doc/cableway/cableway.toml
case $from in
  *.deb)
    dpkg-deb -x "$from" "$root"
    home=/usr gz=.gz links=/usr/lib/$("$@" -dumpmachine) license=copyright zsh=vendor-completions settings=/etc/cableway/cableway.toml
    ;;
  *.tar.gz) tar -xzf "$from" -C "$root/opt" ;;
  *)
    DESTDIR=$root cmake --install "$from" --strip --prefix "$home" >"$work/install.log" 2>&1 ||
      { cat "$work/install.log" >&2; fail "cmake --install failed"; }
    ;;
esac
for file in "$links/libnccl-net-cableway.so" "$home/lib/cableway/libnccl-net-cableway.so" "$home/bin/cablewayd" \
  "$home/bin/cableway" "$home/bin/collperf" "$home/share/doc/cableway/$license" "$home/share/doc/cableway/settings.md" \
  "$home/share/doc/cableway/guide.md" "$home/share/doc/cableway/metrics.md" "$home/share/doc/cableway/grafana/cableway.json" \
  "$settings" "$home/lib/systemd/system/cablewayd.service" "$home/lib/sysusers.d/cableway.conf" \
  "$home/share/man/man1/cableway.1$gz" "$home/share/man/man1/cableway-plan-ranks.1$gz" \
  "$home/share/man/man5/cableway.toml.5$gz" "$home/share/man/man8/cablewayd.8$gz" \
  "$home/share/bash-completion/completions/cableway" "$home/share/zsh/$zsh/_cableway" \
  "$home/share/fish/vendor_completions.d/cableway.fish"; do
  [ -e "$root$file" ] || fail "the installation lacks $file"
done
case $from in
  *.deb) [ -x "$root/usr/lib/cableway/take_back_up.sh" ] || fail "the package lacks what its removal runs" ;;
  *.tar.gz)
    for file in uninstall.sh take_back_up.sh uninstall.files; do
      [ -e "$root$home/lib/cableway/$file" ] || fail "the tarball lacks $file"
    done
    ;;
esac
# The linker's path gets the plugin alone.
for file in "$root$links"/*.so* "$root$home"/lib/*.so*; do
  case $(basename "$file") in
    libnccl-net-cableway.so | '*.so*') ;;
    *) fail "$(basename "$file") is in the linker's path, beside the plugin" ;;
  esac
done
grep -q "^ExecStart=$home/bin/cablewayd$" "$root$home/lib/systemd/system/cablewayd.service" ||
  fail "the unit does not run $home/bin/cablewayd"
cp "${DLOPEN_PLUGIN:-$from/bin/dlopen_plugin}" "$root/dlopen_plugin"

# The libraries that the installation may expect; it must contain all others that it needs.
binaries=$(find "$root$home/lib/cableway" -type f ! -name '*.sh' ! -name uninstall.files)
# shellcheck disable=SC2086 # several names
for library in $("$readelf" -d $binaries | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
  case $library in
    libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | libpthread.so.0 | libdl.so.2 | librt.so.1)
      cp -L "$("$@" -print-file-name="$library")" "$root/lib/$library"
      ;;
    ld-linux*) ;;
    *)
      [ -e "$root$home/lib/cableway/$library" ] && continue
      # A Debian package depends on that of libnl.
      [ "$license $library" = "copyright libnl-3.so.200" ] || fail "it needs $library, but does not contain it"
      cp -L "$(find "${SYSROOT:-}/lib" "${SYSROOT:-}/usr/lib" -name "$library" | head -n 1)" "$root/lib/$library"
      ;;
  esac
done
# Those of dlopen_plugin itself.
for library in libc.so.6 libdl.so.2; do
  cp -L "$("$@" -print-file-name=$library)" "$root/lib/$library"
done
loader=$("$readelf" -l "$root/dlopen_plugin" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
mkdir -p "$root$(dirname "$loader")"
cp -L "$("$@" -print-file-name="$(basename "$loader")")" "$root$loader"
if [ "$emulator" != native ]; then
  cp "$(command -v "$emulator")" "$root/emulator"
fi

enter=$work/enter
cat >"$enter" <<'ENTER'
#!/bin/sh
mount --rbind /proc "$1/proc" && exec chroot "$@"
ENTER
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
# Through the link, and as the file itself.
for folder in "$links" "$home/lib/cableway"; do
  in_root /dlopen_plugin "$folder/libnccl-net-cableway.so"
done
for program in cablewayd cableway; do
  output=$(in_root "$home/bin/$program" --version) || fail "$program --version failed: $output"
  case $output in
    *"$version"*) ;;
    *) fail "$program --version printed '$output', expected $version" ;;
  esac
done
# Reading a key needs libsodium.
echo 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f >"$root/key"
chmod 600 "$root/key"
output=$(in_root "$home/bin/cablewayd" --check-config --node n0 --ports lo --key-file /key) ||
  fail "cablewayd --check-config failed: $output"
case $output in
  *"/key"*"--key-file"*) ;;
  *) fail "cablewayd --check-config printed '$output', expected the key file among the settings" ;;
esac
in_root "$home/bin/collperf" --help >/dev/null || fail "collperf --help failed"

# The installation's own libraries count, not those beside the link through which the plugin is opened.
echo "no library" >"$root$links/libsodium.so.23"
in_root /dlopen_plugin "$links/libnccl-net-cableway.so"
rm "$root$links/libsodium.so.23"

# Checks that the root has no libraries of its own: without the installation's, nothing loads.
mkdir "$root/aside"
mv "$root$home/lib/cableway/"libsodium* "$root/aside/"
if in_root /dlopen_plugin "$links/libnccl-net-cableway.so" 2>"$work/refused.log"; then
  fail "the plugin loads without the installation's libsodium: this root is not empty"
fi
grep -q libsodium "$work/refused.log" || fail "expected a missing libsodium, got: $(cat "$work/refused.log")"
