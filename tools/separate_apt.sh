# shellcheck shell=bash
# For scripts that unpack packages without installing them: an apt with a state of its own. It needs no root, starts
# nothing, and takes packages from this machine's sources. To be sourced.

# separate_state <folder>: makes the state, and its apt.conf, to which more may be appended. apt uses it once that is in
# APT_CONFIG.
separate_state() {
  local state=$1
  rm -rf "$state"
  mkdir -p "$state"/{lists,cache,etc}
  : >"$state/status"
  cat >"$state/apt.conf" <<END
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$state";
Dir::State::status "$state/status";
Dir::State::lists "$state/lists";
Dir::Cache "$state/cache";
END
}

# separate_apt <folder> <architecture>: a state for packages of this architecture, without this machine's configuration of
# apt, which may have others. This script's apt-get uses it from now on.
separate_apt() {
  local state=$1
  separate_state "$state"
  cat >>"$state/apt.conf" <<END
APT::Architecture "$2";
APT::Architectures { "$2"; };
Dir::Etc::main "/dev/null";
Dir::Etc::parts "$state/etc";
END
  export APT_CONFIG=$state/apt.conf
}

# download_packages <package..>: with all that they depend on. Output and exit status are apt's.
download_packages() {
  if ! { apt-get -q update && apt-get -q -y --no-install-recommends --download-only install "$@"; } </dev/null; then
    # A third-party source that lacks the architecture fails the update but not the download.
    apt-get -q -y --no-install-recommends --download-only install "$@" </dev/null
  fi
}

# unpack_packages <folder> <target>: what was downloaded.
unpack_packages() {
  local package
  mkdir -p "$2"
  for package in "$1"/cache/archives/*.deb; do
    dpkg -x "$package" "$2"
  done
}
