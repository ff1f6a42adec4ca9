#!/bin/sh
# chat @VERSION@ for Linux x86-64: this script, and behind it a compressed archive of the program with its Python.
#
# The archive is unpacked once, below $XDG_CACHE_HOME or ~/.cache; an account without a home has /var/tmp. Later starts
# take what lies there. Other versions' folders go when nothing runs from them.
set -eu
umask 077
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}

fail() {
    printf 'chat: %s\n' "$1" >&2
    exit 1
}

self=$0
[ -f "$self" ] || self=$(command -v -- "$0")

if [ -n "${XDG_CACHE_HOME:-}" ]; then
    store=$XDG_CACHE_HOME/chat
elif [ -n "${HOME:-}" ] && [ -w "$HOME" ]; then
    store=$HOME/.cache/chat
else
    store=/var/tmp/chat-$(id -u)
fi
home=$store/@DIGEST@
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown)

# Nobody but this account can have written it: its own, no link, and closed to others for writing. What lies there is run.
is_own() {
    [ -O "$1" ] && [ ! -L "$1" ] || return 1
    case $(ls -ld -- "$1") in
        ?????w* | ????????w*) return 1 ;;
    esac
}

# Unpacked, and on the disk since; or unpacked since the machine was started, so that no crash came between.
is_there() {
    { [ -e "$home/.whole" ] || [ "$(cat "$home/.unpacked" 2>/dev/null)" = "$boot" ]; } &&
        is_own "$home" && is_own "$home/chat"
}

mkdir -p "$store" 2>/dev/null || fail "cannot unpack into $store: name a directory that can be written in XDG_CACHE_HOME"
# In /var/tmp anybody may have made it.
{ [ -O "$store" ] && [ ! -L "$store" ]; } || fail "$store belongs to another account: name another directory in XDG_CACHE_HOME"
is_own "$store" || fail "others can write to $store: remove it, and close it to them"

locking=$(command -v flock || true)
if ! is_there; then
    [ -z "$locking" ] || { exec 8>"$store/.lock" && flock 8; }
    if ! is_there; then # another start may have done it meanwhile
        part=$store/.part-$$
        trap 'rm -rf "$part"' EXIT
        trap 'exit 1' HUP INT TERM
        rm -rf "$part" "$home"
        mkdir "$part"
        tail -c +@OFFSET@ -- "$self" | gzip -dc | tar -xf - -C "$part" ||
            fail "cannot unpack $self into $store: the file is not whole, or there is no room"
        echo "$boot" >"$part/.unpacked"
        mv "$part" "$home"
        trap - EXIT HUP INT TERM
        # Nobody waits for the disk.
        ( (sync -f "$home/.unpacked" || sync) && : >"$home/.whole" & ) </dev/null >/dev/null 2>&1 8>&-
    fi
    if [ -n "$locking" ]; then
        for other in "$store"/*; do
            [ "$other" = "$home" ] || (exec 7<"$other" && flock -n 7 && rm -rf "$other") 2>/dev/null || true
        done
        exec 8>&-
    fi
fi

# As long as this runs the folder is in use; systemd-tmpfiles heeds the lock, too.
[ -z "$locking" ] || { exec 9<"$home" && flock -s 9; }
exec "$home/chat" "$@"
