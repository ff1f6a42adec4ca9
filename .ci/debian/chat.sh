#!/bin/sh
# The program, on the data of this package's instance unless other data are named. For root it runs as the account of that
# instance, so that every file stays that account's, with the settings that the unit gives to the server.
instance=/var/lib/chat
environment=/etc/chat/environment

# Lines as systemd reads them (systemd.exec, EnvironmentFile): comments, blank lines, values with or without quotes. What
# the caller sets counts more.
take_environment() {
    while IFS= read -r line || [ -n "$line" ]; do
        line=${line#"${line%%[![:space:]]*}"}
        case $line in CHAT_*=*) ;; *) continue ;; esac
        name=${line%%=*} value=${line#*=}
        value=${value%"${value##*[![:space:]]}"}
        case $value in
        \"*\") value=${value#\"} value=${value%\"} ;;
        \'*\') value=${value#\'} value=${value%\'} ;;
        esac
        case $name in *[!A-Z0-9_]*) continue ;; esac
        eval "given=\${$name+given}"
        [ "$given" ] || export "$name=$value"
    done <"$environment"
}

data=${CHAT_DATA:-$instance} before=
for argument in "$@"; do
    [ "$before" != --data ] || data=$argument
    case $argument in --data=*) data=${argument#--data=} ;; esac
    before=$argument
done
if [ "${data%/}" = "$instance" ]; then
    export CHAT_DATA=$instance
    if [ -r "$environment" ]; then
        take_environment
    elif [ -s "$environment" ]; then
        echo "chat: $environment is root's alone: its settings are left out" >&2
    fi
    if [ "$(id -u)" = 0 ] && getent passwd chat >/dev/null; then
        exec setpriv --reuid=chat --regid=chat --init-groups /usr/lib/chat/chat "$@"
    fi
fi
exec /usr/lib/chat/chat "$@"
