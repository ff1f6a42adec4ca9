#!/bin/sh
# The program, on the data of this package's instance unless other data are named. For root it runs as the account of that
# instance, so that every file stays that account's.
instance=/var/lib/chat
data=${CHAT_DATA:-$instance} before=
for argument in "$@"; do
    [ "$before" != --data ] || data=$argument
    case $argument in --data=*) data=${argument#--data=} ;; esac
    before=$argument
done
if [ "${data%/}" = "$instance" ]; then
    export CHAT_DATA=$instance
    if [ "$(id -u)" = 0 ] && getent passwd chat >/dev/null; then
        exec setpriv --reuid=chat --regid=chat --init-groups /usr/lib/chat/chat "$@"
    fi
fi
exec /usr/lib/chat/chat "$@"
