#!/bin/bash
# SPDX-License-Identifier: MIT
# Profiles and drawings: what they weigh is what a script works out from the dump, in all formats and by all weights;
# their own tools read them; whatever stands in an archive, they stay what they are.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
sample=$FX_BUILDDIR/tests/convert/write_sample
pictures=$FX_SRCDIR/tests/convert/pictures.py
formats='collapsed pprof speedscope callgrind svg'

# picture FORMAT OUT [OPTION...] ARCHIVE: converts without a word.
picture() {
	local format=$1 out=$2

	shift 2
	expect_ok "$FXTRACE" convert -f "$format" "$@" "$out"
	expect_equal 0 "$(wc -c <err)" "bytes on stderr for $format: $(cat err)"
}

# weigh COMMAND...: prints the lines of a collapsed conversion to standard output.
weigh() {
	"$FXTRACE" convert -f collapsed "$@" - >weighed 2>err || fail "$* to standard output"
}

# --- Totals agree, with stacks and without --------------------------------------------------------
target weighs weighs.c
for options in '' '--stacks=malloc,syscall'; do
	expect_ok traced -c '#default,malloc' ${options:+"$options"} -- ./weighs
	expect_clean trace.fxt
	"$FXTRACE" dump --json trace.fxt >records || fail 'no dump'
	for weight in wall count alloc inuse; do
		for format in $formats; do
			rm -f picture
			picture "$format" picture --weight "$weight" trace.fxt
			python3 "$pictures" records "$weight" "$format" picture >differs ||
				fail "$format by $weight $options: $(head -n 20 differs)"
		done
	done
done

# --- Waiting, by cause ----------------------------------------------------------------------------
weigh --weight off-cpu trace.fxt
for cause in ';\[sleep\]' 'pthread_mutex_lock;\[lock\]' 'poll;\[poll\]' 'read;\[read\]' 'wait;\[child\]' \
	'pthread_join;\[thread\]'; do
	expect_line "^weighs;.*$cause [0-9]+\$" weighed
done
expect_no_line 'descend;\[' weighed

# --- Processors -----------------------------------------------------------------------------------
"$sample" processor >processor.fxt || fail 'no sample'
weigh --weight on-cpu processor.fxt
sort weighed >sorted
printf '%s\n' 'process 10 20' 'process 10;outer 60' 'process 10;outer;read 4' | sort >expected
expect_same_file expected sorted
weigh --weight off-cpu processor.fxt
sort weighed >sorted
printf '%s\n' 'process 10;[blocked] 10' 'process 10;later;[blocked] 10' 'process 10;outer;[preempted] 10' \
	'process 10;outer;read;[read] 16' | sort >expected
expect_same_file expected sorted
weigh --weight on-cpu trace.fxt
expect_equal 0 "$(wc -c <weighed)" 'bytes of a picture without context switches'
expect_line 'no context switches in the archive' err
"$sample" nesting >nesting.fxt || fail 'no sample'
weigh --weight alloc nesting.fxt
expect_line 'no allocations were recorded' err

# --- Groups, ranges, limits -----------------------------------------------------------------------
weigh --group thread trace.fxt
[ "$(sed -n 's/^\(weighs [0-9]*;weighs [0-9]*\).*/\1/p' weighed | sort -u | wc -l)" -eq 4 ] ||
	fail "not four threads: $(head weighed)"
weigh --group process trace.fxt
[ "$(sed -n 's/^\(weighs [0-9]*\);.*/\1/p' weighed | sort -u | wc -l)" -eq 2 ] || fail 'not two processes'
weigh --from 10ns --to 25ns nesting.fxt
sort weighed >sorted
printf '%s\n' 'process 10;outer;middle;leaf 15' >expected
expect_same_file expected sorted
weigh --weight count --to 20ns nesting.fxt
expect_equal 3 "$(awk '{ n += $NF } END { print n }' weighed)" 'calls in the first 20 ns'
sum() {
	awk '{ n += $NF } END { printf "%.0f\n", n }' "$1"
}
weigh trace.fxt
cp weighed all
weigh --max-paths 5 trace.fxt
expect_line 'merged with others: calls whose path was one too many .*: [0-9]+$' err
expect_line ';\[more paths\] ' weighed
expect_equal "$(sum all)" "$(sum weighed)" 'weight of merged paths'
[ "$(wc -l <weighed)" -le 11 ] || fail "more paths than allowed: $(cat weighed)"

# --- Options ---------------------------------------------------------------------------------------
expect_one_error 2 "$FXTRACE" convert -f json --weight wall trace.fxt
expect_one_error 2 "$FXTRACE" convert -f svg --weight time trace.fxt
expect_one_error 2 "$FXTRACE" convert -f svg --group pid trace.fxt
expect_one_error 2 "$FXTRACE" convert -f collapsed --timeline trace.fxt
expect_one_error 2 "$FXTRACE" convert -f svg --from 2s --to 1s trace.fxt
expect_one_error 2 "$FXTRACE" convert -f svg --from 2 trace.fxt
for paths in 0 -1 x '' 5x 99999999999999999999; do
	expect_one_error 2 "$FXTRACE" convert -f svg --max-paths "$paths" trace.fxt
done
for name in trace.speedscope.json trace.collapsed trace.folded trace.pb.gz trace.callgrind trace.svg; do
	expect_ok "$FXTRACE" convert trace.fxt "$name"
	[ -s "$name" ] || fail "$name is empty"
done
expect_line '^<\?xml' trace.svg
expect_line speedscope.app trace.speedscope.json
gzip -t trace.pb.gz || fail 'pprof without gzip'
picture pprof - trace.fxt
gzip -t out || fail 'pprof without gzip on standard output'

# --- The tools that read them ------------------------------------------------------------------------
if command -v protoc >/dev/null; then
	gzip -dc trace.pb.gz | protoc --decode=fx.profile.Profile -I"$FX_SRCDIR/convert/pictures" profile.proto >decoded ||
		fail 'protoc cannot decode the profile'
	expect_line '^default_sample_type: ' decoded
	expect_no_line '^[0-9]+:' decoded
fi
if command -v go >/dev/null && HOME=$TEST_DIR go tool pprof -raw trace.pb.gz >raw 2>raw.err; then
	expect_line '^wall/nanoseconds\[dflt\] calls/count' raw
fi
if command -v callgrind_annotate >/dev/null; then
	callgrind_annotate --auto=no --inclusive=yes trace.callgrind >annotated || fail 'callgrind_annotate'
	expect_line 'function:main$' annotated
	expect_line "^$(sum all | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') \(100.0%\)  PROGRAM TOTALS" annotated
fi

# find_speedscope: prints the folder dist/release of its npm package: FX_SPEEDSCOPE, or what npm fetches, where there is a network.
find_speedscope() {
	if [ -n "${FX_SPEEDSCOPE-}" ]; then
		printf '%s\n' "$FX_SPEEDSCOPE"
		return
	fi
	command -v npm >/dev/null && mkdir npm && (
		cd npm && timeout 60 npm pack --cache cache --fetch-retries 0 speedscope@1.25.0 && tar -xzf speedscope-*.tgz
	) >npm.log 2>&1 && printf '%s\n' "$PWD/npm/package/dist/release"
}

if command -v chromium >/dev/null && scope=$(find_speedscope); then
	PYTHONPATH=$FX_SRCDIR/tests/e2e python3 "$FX_SRCDIR/tests/e2e/speedscope.py" "$scope" trace.speedscope.json \
		"$TEST_DIR/scope" || fail 'speedscope does not open the profile'
	echo "speedscope opens the profile"
fi

# --- The timeline -------------------------------------------------------------------------------------
picture svg line.svg --timeline trace.fxt
python3 - <<'EOF' || fail 'the timeline is not what it should be'
import xml.etree.ElementTree as tree
space = "{http://www.w3.org/2000/svg}"
root = tree.parse("line.svg").getroot()
length = int(root.get("data-to")) - int(root.get("data-from"))
names = [group.find(space + "title").text.split("\n")[0] for group in root.iter(space + "g")]
for name in ("main", "work", "poll", "pthread_mutex_lock", "usleep"):
    assert name in names, name
assert names.count("work") == 2
for group in root.iter(space + "g"):
    assert 0 <= int(group.get("data-x")) <= int(group.get("data-x")) + int(group.get("data-w")) <= length
assert len([path for path in root.iter(space + "path") if path.get("class") == "a"]) >= 4
labels = [text.text for text in root.iter(space + "text")]
assert len([label for label in labels if label and label.startswith("weighs ")]) == 6, labels
# The axis: round times, at equal distances, none over another one or over the edge.
ticks = [text for text in root.iter(space + "text") if text.get("class") == "t" and not text.get("style")]
places = [float(text.get("x")) for text in ticks]
gaps = [b - a for a, b in zip(places, places[1:])]
assert 3 <= len(ticks) <= 10 and max(gaps) - min(gaps) < 0.3, places
assert all(gap > 6.7 * len(text.text) for gap, text in zip(gaps, ticks)), places
assert places[-1] + 6.7 * len(ticks[-1].text) <= float(root.get("data-right")), places
# The axis is whole: what has a line and room has its time.
hidden = [text for text in root.iter(space + "text") if text.get("class") == "t" and text.get("style")]
within = [text for text in hidden if float(text.get("x")) - 3 + 0.1 < float(root.get("data-right"))]
assert all(float(text.get("x")) + 6.7 * len(text.text) > float(root.get("data-right")) for text in within), within
unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
times = [float(text.text.split()[0]) * unit[text.text.split()[1]] for text in ticks]
step = f"{times[-1] - times[-2]:.1e}"
assert step.split("e")[0] in ("1.0", "2.0", "5.0"), step
EOF

# --- Whatever stands in an archive ----------------------------------------------------------------------
for name in hostile nothing truncated overlap unmatched pairs deep many_instants bad_times bad_text asyncs buffer_full \
	foreign_ids stacks two_providers; do
	"$sample" "$name" >"$name.fxt" || fail "no sample $name"
	for format in $formats timeline; do
		options=()
		[ "$format" != timeline ] || options=(--timeline)
		status=0
		"$FXTRACE" convert -f "${format/timeline/svg}" "${options[@]}" "$name.fxt" "$name.$format" 2>err || status=$?
		case $name in
		truncated | two_providers) expect_equal 1 "$status" "status of $name to $format" ;;
		*) expect_equal 0 "$status" "status of $name to $format" ;;
		esac
	done
	python3 - "$name" <<'EOF' || fail "$name: a picture is malformed"
import gzip, json, re, sys, xml.etree.ElementTree as tree
name = sys.argv[1]
assert json.load(open(name + ".speedscope", encoding="utf-8"))["profiles"] # its viewer takes no file without
gzip.open(name + ".pprof").read()
for form in ("svg", "timeline"):
    text = open(f"{name}.{form}", encoding="utf-8").read()
    root = tree.fromstring(text.encode())
    assert text.count("<script") == text.count("</script") == 1, form
    tags = {node.tag.split("}")[1] for node in root.iter()}
    assert tags <= {"svg", "style", "defs", "marker", "path", "rect", "text", "g", "title", "script", "line"}, tags
    for node in root.iter():
        assert not any(key.startswith("on") or "href" in key for key in node.keys())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]", text.split("<script>")[0])
for line in open(name + ".collapsed", encoding="utf-8", newline="\n").read().split("\n")[:-1]:
    assert re.fullmatch(r"[^\x00-\x1f\x7f-\x9f]+ \d+", line), line
for line in open(name + ".callgrind", encoding="utf-8", newline="\n").read().split("\n"):
    assert re.fullmatch(r"(# callgrind format|\w+: [^\x00-\x1f]*|(fl|fn|cfi|cfn)=\(\d+\)( [^\x00-\x1f]+)?|calls=\d+ 0|0 \d+|)", line), line
EOF
done
python3 - <<'EOF' || fail 'names did not come through'
import xml.etree.ElementTree as tree
text = "".join(tree.parse("hostile.svg").getroot().itertext())
for name in ("<script>alert(1)</script>", "]]><script>alert(2)</script>", "&lt;b&gt; &#60;i&#62;", r"two\x0Afn=(9) lines",
             r"\x1B[31mred", "$(id) `id` ' \" \\ %s%n"):
    assert name in text, name
EOF
expect_line 'buffer full' <("$FXTRACE" convert -f collapsed buffer_full.fxt - 2>&1)
expect_line 'buffer full' buffer_full.svg
expect_line 'buffer full' buffer_full.timeline
expect_line '^desc: Note: buffer full' buffer_full.callgrind
expect_line '^process 10;a:b 12' <(sed 's/;[^;]*;[^;]*;[^;]*;[^;]*;[^;]*;a:b 12/;a:b 12/' hostile.collapsed | sed 's/^.*;a:b 12/process 10;a:b 12/')

# --- In a browser ---------------------------------------------------------------------------------------
# browse FILE STATEMENTS: what they push to `said', after a browser has drawn the picture.
browse() {
	{
		sed '$d' "$1"
		printf '<script><![CDATA[var said=[];\n%s\ndocument.documentElement.setAttribute("data-said",said.join(" "));]]></script></svg>\n' "$2"
	} >browsed.svg
	HOME=$TEST_DIR timeout 120 chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/browsed.svg" 2>/dev/null |
		sed -n 's/^<svg.* data-said="\([^"]*\)".*/\1/p'
}

if command -v chromium >/dev/null && "$sample" nesting >n.fxt && picture svg n.svg n.fxt &&
	[ -n "$(browse n.svg 'said.push("here")')" ]; then
	# outer has middle in it, and that two leaves as one box; next follows; below them are the process and all.
	# shellcheck disable=SC2016 # the browser's
	expect_equal '6 5 6 1 41.7 %' "$(browse n.svg '
		var boxes = Array.from(document.querySelectorAll(".f"));
		function shown() { return boxes.filter(function (b) { return b.style.display !== "none"; }).length; }
		function box(name) { return boxes.find(function (b) { return b.textContent.startsWith(name); }); }
		said.push(shown());
		box("middle").dispatchEvent(new MouseEvent("click", {bubbles: true}));
		said.push(shown());
		document.getElementById("back").click();
		said.push(shown());
		document.getElementById("search").value = "MIDDLE";
		document.getElementById("search").dispatchEvent(new Event("input"));
		said.push(document.querySelectorAll(".hit").length);
		said.push(document.getElementById("found").textContent.split(", ")[1]);')" 'zoom and search'
	expect_equal 'none 14' "$(browse hostile.svg '
		said.push(window.alerted || "none");
		said.push(document.querySelectorAll(".f title").length - 2);')" 'what a browser makes of hostile names'
fi

# --- A reader that goes away -------------------------------------------------------------------------
for format in $formats; do
	status=0
	(
		trap '' PIPE
		"$FXTRACE" convert -f "$format" trace.fxt - 2>pipe.err
		echo $? >status
	) | head -c 1 >/dev/null
	status=$(cat status)
	[ "$status" -le 1 ] || fail "$format into a closed pipe: status $status"
	[ "$(wc -l <pipe.err)" -le 1 ] || fail "$format into a closed pipe: $(cat pipe.err)"
done
