#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of an archive: all events are in it, as the archive has them; nothing in a name is markup; and, where there is
# a browser, its script runs.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >page.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inner(int x) { return x * 3; }
static int outer(int x) { return inner(x) + inner(x + 1); }
static void *work(void *arg)
{
	for (int i = 0; i < 50; i++)
		outer(i);
	pthread_mutex_lock(&lock);
	usleep(2000);
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	access("/no </script><b>\"such\\ file", 0);
	return 0;
}
END
compile page -O0 -g -pthread -finstrument-functions page.c
expect_ok "$FXTRACE" run -q -o page.fxt --on-full block -- ./page
"$FXTRACE" dump --json page.fxt >page.json
expect_ok "$FXTRACE" convert page.fxt page.html

cat >page.py <<'END'
"""The data of a page, held against the records of the archive."""
import collections, json, re, sys

page = open(sys.argv[1], encoding="utf-8").read()
assert page.count("</script>") == 3, "a name ends a script"
assert not re.search(r"(src|href)=|https?://|@import|fetch\(|XMLHttp", page), "it loads something"
data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
expected, instants = collections.Counter(), 0
for line in open(sys.argv[2]):
    record = json.loads(line)
    if record["kind"] == "event" and record["type"] == "complete":
        expected[record["tid"], record["name"], record["end"] - record["ts"]] += 1
got, times, last = collections.Counter(), [], {}
for i in range(len(data["dur"])):
    thread = data["thread"][i]
    tid = int(data["threads"][thread]["title"].split()[-1])
    last[thread] = last.get(thread, 0) + data["ts"][i]
    times.append(last[thread])
    got[tid, data["names"][data["name"][i]], data["dur"][i]] += 1
missing = expected - got
assert not missing, f"not in the page: {list(missing)[:5]}"
assert sum(v for k, v in got.items() if k[1] == "inner") == 200, "calls of inner"
depths = {data["names"][data["name"][i]]: data["depth"][i] for i in range(len(data["dur"]))}
assert depths["inner"] == depths["outer"] + 1, depths
assert max(times) <= data["span"], "behind the end"
assert any('/no </script><b>"such\\ file' in text for text in data["texts"]), "the file's name"
count = len(data["dur"])
assert data["arrows"] and all(0 <= a < count and 0 <= b < count for a, b in data["arrows"]), "arrows"
for a, b in data["arrows"]:
    assert times[a] <= times[b] + data["dur"][b], "an arrow that goes back in time"
# The same arrows as a query has, and the same arguments as the records.
names = lambda i: data["names"][data["name"][i]]
arrows = collections.Counter((names(a), names(b)) for a, b in data["arrows"])
asked = {(row["a"], row["b"]): row["n"] for row in json.load(open(sys.argv[3]))}
assert arrows == asked and sum(asked.values()) >= 2, (arrows, asked)
def shown(arg):
    if arg["type"] == "bool":
        return "yes" if arg["value"] else "no"
    return arg["value"]
said = collections.Counter()
for line in open(sys.argv[2]):
    record = json.loads(line)
    if record["kind"] == "event" and record["type"] in ("complete", "instant"):
        said[record["name"], "".join(f"{a['name']}: {shown(a)}\n" for a in record.get("args", []))] += 1
in_page = collections.Counter((names(i), data["texts"][data["args"][i]]) for i in range(count))
assert not said - in_page, list((said - in_page).items())[:5]
assert sum(in_page.values()) == sum(said.values()), (sum(in_page.values()), sum(said.values()))
END
"$FXTRACE" query --json page.fxt "SELECT a.name AS a, b.name AS b, count(*) AS n FROM flow JOIN slice a ON a.id = slice_out
	JOIN slice b ON b.id = slice_in GROUP BY 1, 2" >arrows.json || fail "no query of arrows"
python3 page.py page.html page.json arrows.json || fail "another page"

# Nothing at all, and what is whole of a part.
head -c $(($(stat -c %s page.fxt) / 2 + 5)) page.fxt >cut.fxt
expect_status 1 "$FXTRACE" convert -f html cut.fxt cut.html
grep -q '</html>' cut.html || fail "the page of a part has no end"

# In a browser: zoomed, searched, clicked; a page of a million events; a drawing.
if command -v chromium >/dev/null; then
	expect_ok "$FXTRACE" convert -f svg page.fxt flames.svg
	"$FX_BUILDDIR/bench/timeline" --make 24 large.fxt || fail "no large archive"
	expect_ok "$FXTRACE" convert large.fxt large.html
	PYTHONPATH=$FX_SRCDIR/tests/e2e python3 "$FX_SRCDIR/tests/e2e/pages.py" page.html flames.svg large.html \
		"$TEST_DIR/chromium" || fail "a page in a browser"
fi
