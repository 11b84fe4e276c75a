#!/usr/bin/env python3
"""look.py PAGES PICTURES: opens the reports in Chromium and looks at what is there. Output is TAP."""
import base64
import json
import math
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pages, pictures = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
number = failures = 0


def check(good, what, *details):
    global number, failures
    number += 1
    failures += not good
    print(('ok' if good else 'not ok'), number, '-', what, flush=True)
    for detail in () if good else details:
        print('#', str(detail)[:400], flush=True)


def start():
    options = webdriver.ChromeOptions()
    for argument in ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars',
                     '--disable-background-networking', '--force-device-scale-factor=1', '--no-first-run'):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    return webdriver.Chrome(service=Service('/usr/bin/chromedriver'), options=options)


driver = start()
SIZE = (1200, 900)


def metrics(width, height):
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
                           {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})


def media(kind='screen', scheme='light'):
    driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'media': kind, 'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})


def load(page, hash=''):
    driver.get('about:blank')
    driver.get((pages / page).as_uri() + hash)


def run(script, *arguments):
    return driver.execute_script(script, *arguments)


def picture(name, clip=None):
    how = {'format': 'png', 'captureBeyondViewport': False}
    shot = driver.execute_cdp_cmd('Page.captureScreenshot', {**how, 'clip': clip} if clip else how)
    (pictures / f'{name}.png').write_bytes(base64.b64decode(shot['data']))


def whole_height():
    return run('return document.documentElement.scrollHeight')


def chosen(price):
    return run('return document.querySelector("#" + arguments[0] + " .epsilon").textContent', price)


def console():
    return [entry['message'] for entry in driver.get_log('browser')]


# The picked row and the mark must say what the card says.
def is_consistent():
    return run('''
        var card = document.querySelector("#found .epsilon").textContent;
        var rows = Array.from(document.querySelectorAll("tr.picked"));
        var marks = Array.from(document.querySelectorAll("tr .mark.found")).filter(m => m.textContent !== "");
        if (card === "no candidate") { return rows.length === 0 && marks.length === 0; }
        return rows.length === 1 && marks.length === 1 && rows[0].dataset.epsilon === card && rows[0].contains(marks[0]);''')


def set_tau(text):
    run('''var field = document.getElementById("tau"); field.value = arguments[0];
           field.dispatchEvent(new Event("input", {bubbles: true}));''', text)


# ---- the choice ----

def look_at_choice():
    load('Q3.html')
    check(run('return !document.getElementById("controls").hidden'), 'with the script there are controls')
    before = chosen('found')
    slider = driver.find_element(By.ID, 'slider')
    slider.send_keys(Keys.ARROW_RIGHT)
    larger = chosen('found')
    tau = run('return document.getElementById("tau").value')
    check(float(larger) > float(before), 'an arrow key moves to the next larger epsilon', before, larger)
    check(float(tau) < 0.95 and is_consistent(), 'tau follows the slider', tau)
    slider.send_keys(Keys.ARROW_LEFT)
    check(chosen('found') == before, 'the other arrow key moves back', chosen('found'))
    slider.send_keys(Keys.HOME)
    least = chosen('found')
    slider.send_keys(Keys.END)
    check((least, chosen('found')) == ('0.001', '10'), 'Home and End reach both ends', least, chosen('found'))
    check(slider.get_attribute('aria-valuetext').startswith('epsilon 10'), 'the slider says what it stands for')
    positions = int(slider.get_attribute('max')) + 1
    slider.send_keys(Keys.HOME)
    seen = [chosen('found')]
    for _ in range(positions - 1):
        slider.send_keys(Keys.ARROW_RIGHT)
        seen.append(chosen('found'))
    check(len(set(seen)) == positions == 37 and is_consistent(), 'the slider reaches every candidate', seen)
    field = driver.find_element(By.ID, 'tau')
    field.clear()
    field.send_keys('0.9')
    check(is_consistent() and float(chosen('found')) > float(before), 'a tau that is typed moves the choice')
    set_tau('1')
    check(chosen('found') == 'no candidate' and is_consistent(), 'at tau 1 there is none')
    for wrong in ('', '1.5', '-1', 'abc'):
        set_tau('0.95')
        set_tau(wrong)
        check(chosen('found') == before, f'a tau of "{wrong}" moves nothing')


def look_at_hash():
    load('Q3.html', '#tau=0.9')
    at_hash = chosen('found')
    load('Q3.html')
    at_095 = chosen('found')
    set_tau('0.9')
    check(at_hash == chosen('found') != at_095, '#tau=0.9 moves the choice', at_hash, at_095)
    set_tau('0.95')
    run('window.location.hash = "#tau=0.5"')
    driver.implicitly_wait(1)
    run('return 1')
    check(float(chosen('found')) > float(at_095), 'a hash that changes moves it as well')
    for wrong in ('#tau=2', '#tau=1e-3', '#tau=', '#tau=0.9<script>', '#tau=javascript:alert(1)', '#tau=0x1', '#tau=-0.5',
                  '#found', '#tau=0.9&x=1', '#tau=NaN', '#tau=.'):
        load('Q3.html', wrong)
        check(chosen('found') == at_095, f'{wrong} is no number')


def look_at_server():
    expected = json.loads((pages / 'chosen.json').read_text())
    for query in sorted({row[0] for row in expected}):
        load(f'{query}.html')
        wrong = []
        for _, tau, epsilon in (row for row in expected if row[0] == query):
            set_tau(repr(tau))
            if chosen('found') != (epsilon or 'no candidate'):
                wrong.append((tau, epsilon, chosen('found')))
        check(not wrong and sum(row[0] == query for row in expected) == 99,
              f'{query}: the choice is dp_find_epsilon\'s at 99 values of tau', wrong)


# A request is charged what its requester's policy says, whatever tau is looked at.
def look_at_request():
    load('request.html')
    purpose = run('return document.querySelector("#request pre").textContent')
    check(purpose == 'How many women earn so much?\nFor the equality report.', 'the purpose is shown', purpose)
    before = chosen('asked')
    marks = run('return Array.from(document.querySelectorAll("tr .mark.asked")).filter(m => m.textContent !== "").length')
    check(before == '0.05' and marks == 1, 'with the price of the request', before, marks)
    set_tau('0.5')
    check(chosen('asked') == before and chosen('found') != before and is_consistent(), 'tau moves the choice, and not the price')


# ---- safety ----

def look_at_hostile(page):
    load(page)
    console()
    check(run('return document.documentElement.dataset.pwned === undefined'), f'{page}: what is hostile runs nothing')
    check(run('return document.querySelectorAll("img, iframe, object, embed, form, base, link, [onclick], [onerror]").length') == 0,
          f'{page}: no element or handler of its own')
    check(run('return document.querySelectorAll("script").length') == 1, f'{page}: one script')
    check(run('return document.querySelectorAll("style").length') == 1, f'{page}: one style')
    check('U+202E' in run('return document.body.textContent') and '\u202e' not in run('return document.body.textContent'),
          f'{page}: directions are shown by their code points')


def look_at_safety():
    for page in ('hostile.html', 'hostile_request.html'):
        look_at_hostile(page)
    for page in ('Q2.html', 'hostile.html', 'hostile_request.html'):
        source = (pages / page).read_text()
        # What a page would do that somebody has changed on its way.
        injected = source.replace('</main>', '<script>document.documentElement.dataset.pwned=1</script>'
                                  '<img src="x" onerror="document.documentElement.dataset.pwned=1"/>'
                                  '<a id="link" href="javascript:document.documentElement.dataset.pwned=1">x</a>'
                                  '<p id="painted" style="color: rgb(1, 2, 3)">x</p>'
                                  '<style>h1 { color: rgb(1, 2, 3) }</style></main>', 1)
        (pictures / 'injected.html').write_text(injected)
        driver.get('about:blank')
        console()
        driver.get((pictures / 'injected.html').as_uri())
        run('document.getElementById("link").click()')
        log = console()
        check(run('return document.documentElement.dataset.pwned === undefined'), f'{page}: an injected script stays dead')
        check(any('Content Security Policy' in line for line in log), f'{page}: the policy blocked it', log)
        painted = run('''return ["h1", "#painted"].map(s => getComputedStyle(document.querySelector(s)).color)''')
        check('rgb(1, 2, 3)' not in painted, f'{page}: and an injected style', painted)
        (pictures / 'injected.html').unlink()
    for page in sorted(pages.glob('*.html')):
        driver.get('about:blank')
        console()
        load(page.name)
        log = console()
        check(not log, f'{page.name}: nothing is blocked, nothing fails', *log)


# ---- plots ----

RANGES = '''
return Array.from(document.querySelectorAll("tr.candidate td.plot")).map(function (cell) {
  var rect = cell.querySelector("svg rect"), ends = cell.querySelector(".ends").textContent.split(" to ").map(Number);
  return {low: ends[0], high: ends[1], x: Number(rect.getAttribute("x")), width: Number(rect.getAttribute("width")),
          cut: cell.querySelector("path") !== null};
});'''


# Equal lengths are equal ratios; what would squeeze the others is cut.
def look_at_ranges(page):
    bars = run(RANGES)
    least, most = (end(bar['high'] for bar in bars) for end in (min, max))
    low = max(min(bar['low'] for bar in bars), least / 5)
    scale = 372 / math.log(max(most, low * 1.01) / low)
    wrong = [bar for bar in bars
             if bar['cut'] != (bar['low'] < low * (1 - 1e-9))
             or abs(bar['width'] - max(3, scale * math.log(bar['high'] / max(bar['low'], low)))) > 0.01
             or not 14 <= bar['x'] <= 386 - bar['width'] + 0.01]
    check(bars and not wrong, f'{page}: each bar is as long as the logarithm of its ratio', *wrong[:3])
    return any(bar['cut'] for bar in bars)


def look_at_plots():
    cut = []
    for query in ('Q1', 'Q2', 'Q3', 'Q4', 'Q5'):
        load(f'{query}.html')
        cut.append(look_at_ranges(query))
        table, drawn = run('''
            var people = Array.from(document.querySelectorAll("#histogram td[data-label=people]")).map(d => Number(d.textContent));
            var bars = Array.from(document.querySelectorAll("#histogram rect")).map(r => Number(r.getAttribute("height")));
            return [people.filter(n => n > 0), bars];''')
        tall = [max(164 * n / max(table), 2) for n in table]
        check(len(drawn) == len(tall) and all(abs(a - b) < 0.01 for a, b in zip(drawn, tall)),
              f'{query}: each bar of the histogram is as tall as its people are many', table, drawn)
        check(run('return document.querySelector("#histogram table").hidden'), f'{query}: and stands in the place of the table')
    check(any(cut), 'an arrow ends what is cut', cut)


# ---- looks ----

CONTRAST = '''
function parse(c) { var m = c.match(/[\\d.]+/g).map(Number); return m.length === 3 ? m.concat(1) : m; }
function over(top, under) { var a = top[3]; return [0, 1, 2].map(i => top[i] * a + under[i] * (1 - a)).concat(1); }
function luminance(c) {
  var v = c.slice(0, 3).map(x => { x /= 255; return x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); });
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
}
function ground(e) {
  var chain = [], c;
  for (; e; e = e.parentElement) chain.push(parse(getComputedStyle(e).backgroundColor));
  c = [255, 255, 255, 1];
  chain.reverse().forEach(each => { c = over(each, c); });
  return c;
}
var worst = [], seen = 0;
document.querySelectorAll("body *").forEach(function (e) {
  var own = Array.from(e.childNodes).some(n => n.nodeType === 3 && n.textContent.trim() !== "");
  if (!own || e.tagName === "SCRIPT" || e.getClientRects().length === 0) return;
  var style = getComputedStyle(e), svg = e.closest("svg");
  var ink = over(parse(svg ? style.fill : style.color), ground(e)), paper = ground(svg ? svg.parentElement : e);
  var a = luminance(ink), b = luminance(paper), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  seen += 1;
  if (ratio < 4.5) worst.push([ratio.toFixed(2), e.tagName, e.className.baseVal || e.className, e.textContent.slice(0, 30)]);
});
return {seen: seen, worst: worst};'''

WIDE = '''
var wide = [];
document.querySelectorAll("body *").forEach(function (e) {
  var box = e.getBoundingClientRect();
  var hidden = e.closest("thead") && getComputedStyle(e.closest("thead")).position === "absolute";
  if (!hidden && box.width > 0 && box.right > innerWidth + 1) wide.push([e.tagName, e.className.baseVal || e.className, Math.round(box.right)]);
});
return [document.documentElement.scrollWidth, innerWidth, wide.slice(0, 5)];'''


def look_at_sizes():
    for page in sorted(pages.glob('*.html')):
        for width in (360, 768, 1200):
            metrics(width, 800)
            load(page.name)
            scroll, inner, wide = run(WIDE)
            check(scroll <= inner and not wide, f'{page.name}: no sideways scroll at {width} px', scroll, wide)
        check(page.stat().st_size <= 400_000, f'{page.name}: at most 400 kB', page.stat().st_size)


def look_at_colours():
    for page in ('Q2.html', 'request.html', 'hostile.html', 'table.html'):
        for kind, scheme in (('screen', 'light'), ('screen', 'dark'), ('print', 'light'), ('print', 'dark')):
            media(kind, scheme)
            metrics(*SIZE)
            load(page)
            result = run(CONTRAST)
            check(result['seen'] > 20 and not result['worst'], f'{page}: contrast of 4.5 in {kind}, {scheme}',
                  result['seen'], *result['worst'][:5])
            paper = run('return getComputedStyle(document.documentElement).backgroundColor')
            dark = paper not in ('rgb(255, 255, 255)',)
            check(dark == (kind == 'screen' and scheme == 'dark'), f'{page}: paper of {kind}, {scheme}', paper)
    media()


def look_at_names():
    metrics(*SIZE)
    load('Q2.html')
    check(run('''return Array.from(document.querySelectorAll("svg")).every(s => s.getAttribute("role") === "img"
                 && /[0-9]/.test(s.getAttribute("aria-label")))'''), 'every picture has its numbers as text')
    check(run('''return Array.from(document.querySelectorAll("input")).every(i => i.labels.length === 1)'''),
          'every field has a label')
    check(run('''return Array.from(document.querySelectorAll("table")).every(t => t.querySelectorAll("th[scope]").length > 0)'''),
          'every table has heads')
    run('document.body.focus()')
    reached = []
    for _ in range(2):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(run('return document.activeElement.id'))
    check(reached == ['tau', 'slider'], 'the keyboard reaches both', reached)


def look_without_script():
    driver.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': True})
    load('Q3.html')
    driver.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': False})
    check(run('return document.getElementById("controls").hidden'), 'without the script there are no controls')
    five = run('''return Array.from(document.querySelectorAll("#five tbody tr")).map(r => Array.from(r.children).map(c => c.textContent))''')
    check([row[0] for row in five] == ['0.5', '0.8', '0.9', '0.95', '0.99'], 'both choices at five values of tau', five)
    static = [row[1] for row in five]
    check(run('return document.querySelector("svg") === null'), 'and no pictures')
    check(run('return document.querySelector("#histogram table").getClientRects().length') > 0, 'but the table of the histogram')
    load('Q3.html')
    moved = []
    for row in five:
        set_tau(row[0])
        moved.append(chosen('found'))
    check(moved == static, 'which the script makes as well', moved, static)


def take_pictures():
    for page in ('Q2.html', 'Q5.html', 'request.html', 'hostile.html', 'hostile_request.html', 'table.html'):
        for name, width, kind, scheme in (('light', 1200, 'screen', 'light'), ('dark', 1200, 'screen', 'dark'),
                                          ('narrow', 360, 'screen', 'light'), ('print', 794, 'print', 'light')):
            media(kind, scheme)
            metrics(width, 800)
            load(page)
            metrics(width, min(whole_height(), 4000))
            picture(f'{pathlib.Path(page).stem}-{name}')
    media()
    metrics(1000, 2000)
    load('Q2.html', '#tau=0.95')
    top = run('return document.getElementById("ranges").getBoundingClientRect().top + scrollY')
    picture('doc', {'x': 0, 'y': top, 'width': 1000, 'height': 1000, 'scale': 0.8})


for step in (look_at_choice, look_at_hash, look_at_server, look_at_request, look_at_safety, look_at_plots, look_at_names, look_without_script, look_at_sizes,
             look_at_colours, take_pictures):
    step()
driver.quit()
print(f'1..{number}')
sys.exit(failures > 0)
