# SPDX-License-Identifier: Apache-2.0
# Both kinds of clients get their words back, and the service ends well with clients connected.
name="unix://weft-asio-echo-$$"
asio_echo serve "$name" >service.txt &
service=$!
trap 'kill $service 2>/dev/null || true' EXIT
until grep -q port service.txt; do kill -0 $service; done
port=$(awk '{ print $2 }' service.txt)

asio_echo tcp "$port" "over and out" | grep -q "by tcp: over and out"
asio_echo weft "$name" "warp and weft" | grep -q "by weft: warp and weft"
exec 3<>"/dev/tcp/127.0.0.1/$port" # a client that stays
echo one >&3
read -r answer <&3
[[ $answer == one ]]
# Two at once.
asio_echo tcp "$port" first >first.txt &
asio_echo weft "$name" second >second.txt
wait $!
grep -q first first.txt && grep -q second second.txt

kill -TERM $service
wait $service
trap - EXIT
# Errors tell their reason.
if asio_echo serve "nowhere://x" 2>error.txt >/dev/null; then exit 1; fi
grep -q nowhere error.txt
