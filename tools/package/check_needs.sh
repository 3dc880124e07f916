#!/usr/bin/env bash
# Checks that the programs and libraries of a folder run on every system that the packages are for.
#   tools/package/check_needs.sh FOLDER [NEWEST_GLIBC]
# They may need the libraries of the folder and glibc's, nothing of glibc that is newer than NEWEST_GLIBC (2.35, that of
# Ubuntu 22.04), and look for libraries relative to themselves alone. Uses readelf, which reads every architecture.
set -euo pipefail
folder=${1:?"usage: check_needs.sh FOLDER [NEWEST_GLIBC]"}
newest=${2:-2.35}
glibc='^(ld-linux-.*|libc|libm|libdl|libpthread|librt)\.so\.[0-9]+$'
wrong=0

complain() {
  echo "check_needs: $*" >&2
  wrong=1
}

is_newer() { # <version> <than>
  [[ $1 != "$2" && $(printf '%s\n%s\n' "$1" "$2" | sort -V | tail -n 1) == "$1" ]]
}

checked=0
for file in "$folder"/*; do
  readelf -h "$file" >/dev/null 2>&1 || continue
  checked=$((checked + 1))
  name=$(basename "$file")
  dynamic=$(readelf -dW "$file")
  while read -r library; do
    [[ -z $library || $library =~ $glibc || -e $folder/$library ]] ||
      complain "$name needs $library, which is neither of glibc nor in $folder"
  done < <(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic")
  while read -r path; do
    [[ -z $path || $path == "\$ORIGIN" || $path == "\$ORIGIN/"* ]] || complain "$name looks for libraries in '$path'"
  done < <(sed -n 's/.*(\(RPATH\|RUNPATH\)).*\[\(.*\)\]/\2/p' <<<"$dynamic" | tr ':' '\n')
  versions=$(readelf -VW "$file" | sed -nE 's/.*Name: GLIBC_([A-Z0-9._]+) .*/\1/p' | sort -Vu)
  while read -r version; do
    [[ -z $version || $version =~ ^[0-9.]+$ ]] || complain "$name needs GLIBC_$version, which not every glibc has"
  done <<<"$versions"
  version=$(grep -E '^[0-9.]+$' <<<"$versions" | tail -n 1 || true)
  if is_newer "${version:-0}" "$newest"; then
    complain "$name needs glibc $version, for" \
      "$(readelf --dyn-syms -W "$file" | sed -nE "s/.* UND ([^@ ]+)@GLIBC_$version.*/\1/p" | sort -u | paste -sd ' ');" \
      "the newest allowed is $newest"
  fi
done
if ((checked == 0)); then
  complain "no programs or libraries in $folder"
fi
exit "$wrong"
