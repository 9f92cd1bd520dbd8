#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py PAGE FLAMES LARGE PROFILE: pages in a browser, as somebody uses them: a page is zoomed, searched, clicked and
read; the drawing FLAMES is zoomed and searched; the page LARGE, of very many events, is opened. With FX_SCREENSHOTS, a
folder, pictures of them are left there."""

import os
import sys
import time

from browser import Browser

page, flames, large, profile = sys.argv[1:]


def shot(browser, name):
    if "FX_SCREENSHOTS" in os.environ:
        browser.screenshot(os.path.join(os.environ["FX_SCREENSHOTS"], name + ".png"))


def check_page(browser):
    browser.open(page)
    assert browser.value("fxtrace.events") > 300, "events"
    assert browser.value("document.querySelector('#timeline').width") > 1000, "width of the timeline"
    shot(browser, "page")
    box = browser.value("(r => [r.left, r.top, r.width, r.height])(document.querySelector('#timeline').getBoundingClientRect())")

    # Zooming with the wheel keeps what is under the mouse where it is.
    whole = browser.value("fxtrace.range()")
    x = box[0] + box[2] * 0.25
    for _ in range(5):
        browser.wheel(x, box[1] + 20, -120)
    near = browser.value("fxtrace.range()")
    assert near[1] - near[0] < (whole[1] - whole[0]) * 0.5, (whole, near)
    under = [r[0] + (r[1] - r[0]) * 0.25 for r in (whole, near)]
    assert abs(under[0] - under[1]) < (near[1] - near[0]) * 0.05, under
    browser.value("document.body.focus()")
    browser.press("d")
    moved = browser.value("fxtrace.range()")
    assert moved[0] > near[0] and abs((moved[1] - moved[0]) - (near[1] - near[0])) < 2, (near, moved)
    browser.press("0")
    assert browser.value("fxtrace.range()") == whole, "all again"

    # A search says how many, dims the others, shortens the table; Enter goes from one to the next.
    browser.value("document.querySelector('#search').focus()")
    browser.type("INNER")
    assert browser.value("document.querySelector('#found').textContent") == "200 found"
    assert browser.value("[...document.querySelectorAll('#calls tr')].map(r => r.lastChild.textContent)") == ["inner"]
    seen = []
    for _ in range(3):
        browser.press("Enter")
        seen.append(browser.value("fxtrace.selected()"))
        assert browser.value("fxtrace.name(fxtrace.selected())") == "inner", seen
    assert len(set(seen)) == 3, seen
    details = browser.value("document.querySelector('#details').textContent")
    assert details.startswith("inner\nthread: ") and "\ntook: " in details, details
    shot(browser, "found")
    browser.value("(document.querySelector('#search').value = '', "
                  "document.querySelector('#search').dispatchEvent(new Event('input')))")

    # A click on a call shows its arguments.
    where = browser.value("""(() => { for (let y = 0; y < 500; y += 5) for (let x = 0; x < %d; x += 2) {
        const near = [-4, 0, 4].map((d) => fxtrace.eventAt(x + d, y + d / 4)); if (near[0] >= 0 && near.every((i) => i === near[0]) &&
        fxtrace.name(near[0]) === 'usleep') return [x, y]; } })()""" % box[2])
    box = browser.value("(r => [r.left, r.top, r.width, r.height])(document.querySelector('#timeline').getBoundingClientRect())")
    browser.click(box[0] + where[0], box[1] + where[1])
    details = browser.value("document.querySelector('#details').textContent")
    assert details.startswith("usleep\n") and "duration_us: 2000" in details, details

    # The report's tables are there, names as text.
    tables = browser.value("[...document.querySelectorAll('#tables h3')].map(h => h.textContent)")
    for title in ("Summary", "Processes", "Files not found", "Functions", "What each thread waited for"):
        assert title in tables, tables
    text = browser.value("document.querySelector('#tables').innerText")
    assert '/no </script><b>"such\\ file' in text, text
    assert browser.value("document.querySelectorAll('b, i').length") == 0, "a name is markup"
    # Enough rows to find one by its cells, as in the report's text.
    rows = browser.value("[...document.querySelectorAll('#tables tr')].map(r => [...r.children].map(c => c.textContent))")
    assert any(row[-1] == "inner" and "200" in row for row in rows), rows
    browser.value("document.querySelector('#tables').scrollIntoView()")
    shot(browser, "tables")
    assert [r for r in browser.requests if not r.startswith("file:")] == [], browser.requests


def check_flames(browser):
    browser.open(flames)
    titles = browser.value("[...document.querySelectorAll('g title')].map(t => t.textContent.split('\\n')[0])")
    assert {"main", "outer", "inner"} <= set(titles), titles
    width = """[...document.querySelectorAll('g')].filter(g => g.querySelector('title') &&
        g.querySelector('title').textContent.startsWith('outer')).map(g => g.getBoundingClientRect().width)[0]"""
    before = browser.value(width)
    browser.value("""[...document.querySelectorAll('g')].filter(g => g.querySelector('title') &&
        g.querySelector('title').textContent.startsWith('outer'))[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))""")
    assert browser.value(width) > before * 1.5, (before, browser.value(width))
    assert browser.value("document.querySelector('#back').style.display") == "", "the way back to the whole"
    shot(browser, "flames")
    check_flame_search(browser, width, before)


def check_flame_search(browser, width, whole):
    """A slash goes to the search, which marks boxes by their names and says how much they are; Escape takes all back."""
    classes = "[...document.querySelectorAll('g.f')].filter(g => g.classList.contains('%s')).map(" \
              "g => g.querySelector('title').textContent.split('\\n')[0])"
    browser.press("/")
    assert browser.value("document.activeElement.id") == "search", "a slash goes to the search"
    browser.type("INNER")
    assert browser.value("document.querySelector('#search').value").lower() == "inner", "what was typed"
    hits, dims = browser.value(classes % "hit"), browser.value(classes % "dim")
    assert set(hits) == {"inner"} and "outer" in dims and "inner" not in dims, (hits, dims)
    # Boxes of one name may lie beside one another, never inside: so their widths are the share.
    share = browser.value("""(() => { const boxes = [...document.querySelectorAll('g.f')], w = (g) => Number(g.dataset.w);
        const all = Number(document.documentElement.dataset.to) - Number(document.documentElement.dataset.from);
        return 100 * boxes.filter(g => g.classList.contains('hit')).reduce((sum, g) => sum + w(g), 0) / all; })()""")
    said = browser.value("document.querySelector('#found').textContent")
    assert said == f"{len(hits)} found, {share:.1f} %" and 0 < share < 100, (said, share)
    shot(browser, "flames-search")
    browser.press("Escape")
    assert browser.value("document.querySelector('#found').textContent") == "", "nothing is searched any more"
    assert browser.value(classes % "hit") == browser.value(classes % "dim") == [], "and nothing marked"
    assert abs(browser.value(width) - whole) < 1, "the whole again"
    # What is searched is text, and no pattern.
    browser.press("/")
    browser.type(".*")
    assert browser.value("document.querySelector('#found').textContent").startswith("0 found"), "a word of signs"


def check_large(browser):
    began = time.process_time(), time.monotonic()
    browser.open(large)
    taken = browser.value("performance.timing.domComplete - performance.timing.navigationStart")
    assert browser.value("fxtrace.events") > 900000, "events of the large page"
    browser.value("fxtrace.zoom(0.001, 0.5)")
    shot(browser, "large")
    print(f"a page of {browser.value('fxtrace.events')} events: {taken} ms until it is drawn, "
          f"{time.monotonic() - began[1]:.1f} s with all that is asked of it")


with Browser(profile) as chromium:
    check_page(chromium)
    check_flames(chromium)
    check_large(chromium)
    assert chromium.faults == [], chromium.faults
