#!/bin/sh
# Takes back what `cableway up` has changed on this host, without a question, while the program is still there: it is run
# by the package's prerm and by uninstall.sh. Exit status 1: something stays, which it lists with what to do; a removal
# goes on all the same.
set -u
home=$(dirname "$(realpath "$0")")
state=/var/lib/cableway
journal=$state/up.json

# The journal has one member a line: files and parameters as "path", the words of a command beneath "undo".
list_changes() {
  sed -n -e 's/^ *"path": "\(.*\)",\{0,1\}$/  \1/p' \
    -e '/^ *"undo": \[$/,/^ *\]/{' \
    -e '/"undo": /{s/.*/  undone by:/;h;d' -e '}' \
    -e '/^ *\]/{x;s/\n/ /g;p;d' -e '}' \
    -e 's/^ *"\(.*\)",\{0,1\}$/\1/;H' -e '}' "$1"
}

# Without the host's settings: broken ones must not keep their own removal from going on.
undo() {
  env -i PATH="$PATH" LC_ALL=C.UTF-8 "$home/cableway" up --undo --yes --config /dev/null </dev/null
}

if [ -e "$journal" ] && ! undo; then
  if [ -e "$journal" ]; then
    {
      echo "cableway: these changes of 'cableway up' stay on this host:"
      list_changes "$journal"
      echo "Look at each, and remove what is of Cableway: the earlier content of a file is in $journal" \
        "(\"before\", in base64; null: there was none). Then: rm -r $state"
    } >&2
  else
    echo "cableway: the lines 'left as it is' above name what stays of 'cableway up': undo it by hand" >&2
  fi
  exit 1
fi
rm -f /run/cableway-up.lock
[ ! -d $state ] || rmdir --ignore-fail-on-non-empty $state
