#!/bin/sh
# same_output.sh NATIVE EMULATOR FOREIGN: both programs must succeed and print the same.
native=$("$1") || exit 1
foreign=$("$2" "$3") || exit 1
echo "native $native, foreign $foreign"
[ -n "$native" ] && [ "$native" = "$foreign" ]
