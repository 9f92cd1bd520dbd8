# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Chromium without a window: what it makes of a page with a script and a worker, without its sandbox and with it.

chromium_list() {
	[ -n "$all" ] || return
	command -v chromium >/dev/null || { echo "chromium is not installed" >&2; return; }
	echo open
	echo sandboxed
}

# Root cannot have the sandbox: nobody can.
chromium_run() {
	local how=$1 status=0 user=() options=() room

	shift
	room=$(mktemp -d /tmp/fxtrace-chromium.XXXXXX)
	cat >"$room/page.html" <<-'END'
		<p id="p">nothing</p><script>
		let sum = 0; for (let i = 0; i < 1000000; i++) sum += i % 7;
		document.getElementById("p").textContent = sum;
		const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(6 * 7)"])));
		worker.onmessage = m => document.body.append(m.data);
		</script>
	END
	if [ "$how" = open ]; then
		options=(--no-sandbox)
	elif [ "$(id -u)" -eq 0 ]; then
		user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	fi
	chmod -R a+rwX "$room"
	for page in about:blank "file://$room/page.html"; do
		HOME=$room TMPDIR=$room within 300 "$@" "${user[@]}" chromium "${options[@]}" --headless --disable-gpu \
			--disable-quic --no-first-run --disable-background-networking --disable-component-update \
			--disable-sync --user-data-dir="$room/data" --virtual-time-budget=3000 --dump-dom "$page" 2>log ||
			status=$?
	done
	rm -rf "$room"
	echo "status $status"
}
