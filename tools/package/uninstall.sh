#!/bin/sh
# Removes an installation of the tarball from this host: stops the node, takes back what `cableway up` has changed, and
# removes the files of the tarball. What else is in their folder stays, and so do settings, key, log and group.
set -eu

unit=/etc/systemd/system/cablewayd.service

is_of_systemd() { # the unit is linked, or has been enabled, from this folder
  [ -L "$unit" ] && [ "$(realpath -m "$unit")" = "$1/lib/systemd/system/cablewayd.service" ]
}

# Another installation runs this host's node: what `cableway up` has changed, and /run/cableway, are its own.
is_of_another() {
  is_of_systemd "$1" && return 1
  [ -L "$unit" ] || [ -e /usr/lib/systemd/system/cablewayd.service ]
}

stop_service() { # <folder>
  is_of_systemd "$1" || return 0
  if [ -d /run/systemd/system ]; then
    # Before the link goes, which names the unit.
    systemctl disable --now cablewayd.service || echo "uninstall: cablewayd did not stop; going on" >&2
  fi
}

remove_files() { # <folder> <list of its files>
  while IFS= read -r file; do
    rm -f "$1/$file"
  done <"$2"
}

# The folders of the tarball's files that are empty now, from the deepest up to <folder>. Others stay.
remove_folders() { # <folder> <list of its files>
  while IFS= read -r file; do
    folder=$(dirname "$file")
    while [ "$folder" != . ]; do
      echo "$folder"
      folder=$(dirname "$folder")
    done
  done <"$2" | sort -ru | while IFS= read -r folder; do
    [ ! -d "$1/$folder" ] || rmdir --ignore-fail-on-non-empty "$1/$folder"
  done
}

main() {
  home=$(dirname "$(dirname "$(dirname "$(realpath "$0")")")")
  files=$home/lib/cableway/uninstall.files
  case ${1-} in
    '') ;;
    *)
      echo "usage: sudo $0: removes Cableway from $home; --help prints this" >&2
      [ "$1" = --help ] && exit 0
      exit 2
      ;;
  esac
  if [ "$(id -u)" != 0 ]; then
    echo "uninstall: only root may remove $home; expected sudo $0" >&2
    exit 1
  fi
  if [ ! -e "$files" ]; then
    echo "uninstall: $files, the list of what to remove, is not there: nothing was removed" >&2
    exit 1
  fi
  PATH=$PATH:/usr/sbin:/sbin
  taken_back=0
  stop_service "$home"
  if is_of_another "$home"; then
    echo "uninstall: another installation has this host's unit: what 'cableway up' has changed stays" >&2
    another=true
  else
    another=false
    "$home/lib/cableway/take_back_up.sh" || taken_back=1
  fi
  if is_of_systemd "$home"; then
    rm -f "$unit" /etc/systemd/system/multi-user.target.wants/cablewayd.service
  fi
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
  fi
  remove_files "$home" "$files"
  list=$(mktemp)
  mv "$files" "$list"
  echo lib/cableway/uninstall.files >>"$list"
  remove_folders "$home" "$list"
  rm -f "$list"
  rmdir --ignore-fail-on-non-empty "$home"
  $another || rm -rf /run/cableway
  echo "uninstall: the files of the tarball are removed from $home. Settings, key, log and group stay; to remove them:" \
    "rm -rf /etc/cableway /var/log/cableway; groupdel cableway"
  exit $taken_back
}

# Read as a whole before it runs, since it removes itself.
main "$@"
