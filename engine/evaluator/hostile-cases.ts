/** Lists hostile bodies of a given size, each with the expressions for which it is the worst, for tests. */

interface HostileBody {
  readonly name: string
  readonly payload: unknown
  /** The expressions for which the body is the worst. */
  readonly sources: readonly string[]
}

/** Makes a list of elements that takes this many bytes as JSON. */
function listOf(bytes: number, element: (index: number) => unknown): unknown[] {
  const elements: unknown[] = []
  for (let size = 20; size < bytes - 64; ) {
    const next = element(elements.length)
    elements.push(next)
    size += JSON.stringify(next).length + 1
  }
  return elements
}

const repeatTo = (bytes: number, piece: string) => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)))

/** Maps a name to the value of `a`. */
const bodies = {
  numbers: (bytes: number) => ({ a: listOf(bytes, () => 1) }),
  texts: (bytes: number) => ({ a: listOf(bytes, () => 'x') }),
  lists: (bytes: number) => ({ a: listOf(bytes, () => []) }),
  objects: (bytes: number) => ({ a: listOf(bytes, () => ({})) }),
  rows: (bytes: number) => ({
    a: listOf(bytes, (index) => ({ n: (index * 7919) % 10_007, t: `t${index % 100}` })),
  }),
  keys: (bytes: number) => ({
    a: Object.fromEntries(listOf(bytes, (index) => [`k${index}`, []]) as [string, unknown][]),
  }),
  scalars: (bytes: number) => ({
    a: Object.fromEntries(listOf(bytes, (index) => [`k${index}`, 1]) as [string, unknown][]),
  }),
  deep: (bytes: number) => ({
    a: JSON.parse(`${'['.repeat(990)}${listOf(bytes - 2_000, () => 1).join()}${']'.repeat(990)}`),
  }),
  text: (bytes: number) => ({ a: repeatTo(bytes - 64, 'a') }),
  words: (bytes: number) => ({ a: repeatTo(bytes - 64, 'a ') }),
  emoji: (bytes: number) => ({ a: repeatTo(bytes - 64, '😀') }),
  digits: (bytes: number) => ({ a: repeatTo(bytes - 64, '9') }),
  needle: (bytes: number) => ({
    a: repeatTo(bytes / 2 - 64, 'a'),
    b: `${repeatTo(bytes / 4 - 64, 'a')}b${repeatTo(bytes / 4 - 64, 'a')}`,
  }),
  numbersAndFormats: (bytes: number) => ({
    a: 1e15,
    b: repeatTo(bytes / 2, 'x'),
    n: 9_007_199_254_740_991,
    p: repeatTo(bytes / 8, '0'),
    z: repeatTo(bytes / 8, '[Y]'),
  }),
  searched: (bytes: number) => ({ a: repeatTo(bytes / 4, 'ab'), b: repeatTo(bytes / 4, 'a ') }),
}

/** Maps each body to the expressions for which it is the worst, with `¦` between them. */
const sources: Readonly<Record<keyof typeof bodies, string>> = {
  numbers: `
    $sum(a) + $max(a) - $min(a) * $average(a) + $count(a) ¦ $sort(a)[0] ¦ $distinct(a) ¦
    $reverse(a)[0] + $shuffle(a)[0] ¦ $string(a) ¦ "" & a ¦ a = $reverse(a) ¦ a ¦ {"x": a, "y": a} ¦
    $zip(a, a) ¦ $append(a, a) ¦ $map(a, function($v) { $v }) ¦ $filter(a, $boolean) ¦
    $filter(a, function($v) { $v = 1 }) ¦ $reduce(a, function($s, $v) { $s + $v }) ¦ $reduce(a, $append) ¦
    $single(a, $exists) ¦ $boolean(a) and a ¦ a ? 1 : 2 ¦ 2 in a ¦ a[$ > 1] ¦ a[$$.a] ¦ a^(>$) ¦ a.$string() ¦
    a{$string($): $} ¦ $keys(a) ¦ $lookup(a, "x") ¦ $spread(a) ¦ $merge(a) ¦ ** ¦ * ¦ a#$i.($i) ¦ a@$x.($x) ¦
    a.%.a ¦ $clone(a) ¦ $ ~> |$|{"b": 1}| ¦ $ ~> |a|{"b": 1}| ¦ $join(a) ¦ $type(a) & $exists(a) ¦ [a, a, a] ¦
    [1..10000].$$.a ¦ $count([1..10000].{"x": $$.a}) ¦ $string([1..10000].{"x": $$.a}) ¦
    [1..10000].{"x": $$.a} ¦ $boolean([1..10000].[$$.a]) ¦ $distinct([1..10000].{"x": $$.a}) ¦
    [1..10000].{"x": $$.a} = [1..10000].{"x": $$.a} ¦ [1..10000].{"x": [1..10000]} ¦
    $reduce([1..60], function($x, $i) { {"l": $x, "r": $x} }, {"l": 1}) ¦
    $string($reduce([1..60], function($x, $i) { {"l": $x, "r": $x} }, {"l": 1})) ¦
    $boolean($reduce([1..60], function($x, $i) { [[$x], [$x]] }, [[0], [0]])) ¦
    $reduce([1..60], function($x, $i) { [[$x], [$x]] }, [[0], [0]]).** ¦
    $reduce([1..60], function($x, $i) { [[$x], [$x]] }, [[0], [0]]).x ¦
    $length($reduce([1..60], function($x, $i) { $x & $x }, "aaaaaaaa")) ¦
    $reduce([1..9000], function($x, $i) { {"l": $x} }, {"l": 1})`,
  texts: `
    $join(a, "-") ¦ $join(a) ¦ $distinct(a) ¦ $sort(a)[0] ¦ a[$contains($, /x+y/)] ¦ a.$uppercase($) ¦
    $filter(a, $contains(?, "y"))`,
  lists: `
    ** ¦ * ¦ a.x ¦ a.b.c ¦ $lookup(a, "x") ¦ $keys(a) ¦ $spread(a) ¦ $boolean(a) ¦ a.* ¦ a{"k": $} ¦
    $merge(a) ¦ $count(a[[]]) ¦ $string(a)`,
  objects: `
    ** ¦ a.* ¦ a.x ¦ $keys(a) ¦ $spread(a) ¦ $merge(a) ¦ $distinct(a) ¦ a.$keys() ¦ a{"k": 1} ¦ a = a ¦
    a = $clone(a) ¦ $string(a, true) ¦ a`,
  rows: `
    a{t: n} ¦ a{$string(n): $} ¦ a{$string(n): $sum(n)} ¦ a^(n) ¦ a^(>n, t).t ¦
    $sort(a, function($l, $r) { $l.n > $r.n }) ¦ $distinct(a) ¦ a[n > 5000].t ¦ a.n ¦ a[0] ¦ $spread(a) ¦
    $merge(a) ¦ a@$x.a@$y[$x.n = $y.n].($x.t) ¦ a@$x.$$.a@$y[$x.n = $y.n]{$x.t: $y.n} ¦
    a#$i[t = "t1"]{t: $i} ¦ $ ~> |a|{"n": 1}, "t"| ¦ $ ~> |**|{"n": 1}| ¦ a.{"id": n, "all": $$.a} ¦
    $map(a, function($r, $i, $all) { $count($all) }) ¦ a.%.a.n`,
  keys: `
    a.* ¦ * ¦ ** ¦ $keys(a) ¦ $each(a, function($v, $k) { $k }) ¦ $sift(a, function($v) { $v }) ¦ $spread(a) ¦
    $merge([a, a]) ¦ a ¦ $distinct([a, a]) ¦ $sift(a, $exists) ¦ a.k5`,
  scalars: `
    a.* ¦ $keys(a) ¦ $each(a, $string) ¦ $sift(a, $boolean) ¦ $spread(a) ¦ $ ~> |$|a| ¦
    [1..10000].$keys($$.a) ¦ $boolean([1..10000].[$$.a, 1]) ¦ $merge([1..10000].$$.a) ¦ a = $clone(a) ¦
    $string(a) ¦ $distinct([a, $clone(a)])`,
  deep: `
    ** ¦ a ¦ $string(a) ¦ a = $clone(a) ¦ $boolean(a) ¦ a.x ¦ $distinct([a, [a]]) ¦ * ¦ $keys(a) ¦ "" & a ¦
    $lookup(a, "x") ¦ $spread(a)`,
  text: `
    $length(a) ¦ $substring(a, 5, 1000000) ¦ $uppercase(a) & $lowercase(a) ¦ $trim(a) ¦
    $pad(a, 2000000) & $pad("", 1e9) ¦ $pad("x", 1e15) ¦ $split(a, "") ¦ $split(a, "a") ¦
    $replace(a, "a", "bb") ¦ $replace(a, "a", a) ¦ $replace(a, /a/, "b") ¦ $match(a, /a/) ¦
    $contains(a, /(a+)+$/) ¦ $join([a, a, a], a) ¦ $base64encode(a) ¦ $base64decode(a) ¦
    $encodeUrl(a) & $encodeUrlComponent(a) ¦ $decodeUrl(a) ¦ $number(a) ¦ $toMillis(a) ¦
    $toMillis(a, "[MNn][FNn][P][MNn][FNn][P]") ¦ $parseInteger(a, "w") ¦ $parseInteger(a, "a") ¦
    $string(a) & a & a ¦ [1..10000].$uppercase($$.a) ¦ [1..10000].($$.a & $string($)) ¦
    $distinct([1..10000].($$.a & $string($))) ¦ $sort([1..2000].($$.a & $string($))) ¦ $formatNumber(5, a) ¦
    $formatInteger(5, a) ¦ $fromMillis(5, a) ¦ a in [1..10000].$$.a ¦ a = a & "" ¦
    $substringBefore(a, "b") & $substringAfter(a, "b")`,
  words: String.raw`
    $trim(a) ¦ $split(a, " ") ¦ $split(a, /\s+/) ¦ $replace(a, " ", "") ¦ $replace(a, /\s/, "") ¦
    $uppercase(a) ¦ $contains(a, /(\w+\s?)+$/)`,
  emoji: `
    $length(a) ¦ $substring(a, 100000, 100000) ¦ $substring(a, -5) ¦ $encodeUrlComponent(a) ¦
    $pad(a, 1000000, "😀") ¦ $split(a, "") ¦ $string({"a": a}) ¦ $uppercase(a)`,
  needle: `
    $contains(a, b) ¦ $split(a, b) ¦ $replace(a, b, "x") ¦ $substringBefore(a, b) ¦ $substringAfter(a, b) ¦
    a in [1..10000].$$.b ¦ a < b ¦ a = b ¦ $replace(a, "a", b) ¦ $join(["a","b"], b)`,
  digits: `
    $number(a) ¦ $parseInteger(a, "0") ¦ $number("0x" & a) ¦ $toMillis(a) ¦ $formatNumber(1, a) ¦
    $fromMillis(1, a)`,
  numbersAndFormats: `
    $pad(b, n) ¦ $pad(b, -n) ¦ [1..n] ¦ [n..n] ¦ $formatBase(n, 2) ¦ $formatInteger(1e308, "w") ¦
    $formatInteger(1e308, "I") ¦ $formatInteger(1e308, "A") ¦ $formatInteger(5, p) ¦ $formatNumber(n, p) ¦
    $formatNumber(1e308, "0e0") ¦ $fromMillis(1, z) ¦ $toMillis("2020", z) ¦ $fromMillis(1e300, "[Y]") ¦
    $fromMillis(1, "[Y,1000000000]") ¦ $fromMillis(1, "[Y, 1 0 0 0 0 0 0 0 0 0]") ¦
    $formatNumber(1, "0", {"zero-digit": "", "decimal-separator": ""}) ¦
    $formatNumber(1, "0,0", {"grouping-separator": ""}) ¦ $power(10, 400) ¦ $round(n, 300) ¦
    $substring(b, -n, n) ¦ ($f := function($x) { $f($x) }; $f(1)) ¦
    ($f := function($x) { 1 + $f($x) }; $f(1)) ¦ ($f := function($x) { [$f($x), $f($x)] }; $f(1)) ¦
    $match(b, function($s) { {"match": "x", "start": 0, "end": 1, "groups": [], "next": function() { $s }} })`,
  searched: String.raw`
    $contains(a, /([ab][ab])*c/) ¦ $contains(a, /(a|b)*a(a|b){12}c/) ¦
    $match(a, /(?:a[ab]{30}|b[ab]{25}){3}c/) ¦ $replace(a, /(a)(b)/, "$2$1") ¦ $split(b, /\s/) ¦
    $match(a, /.*/) ¦ $replace(a, /a|.*c/, "") ¦ $replace(a, /ab/, function($m) { $m.match }) ¦
    [1..10000].$contains($$.a, /(a|b)*a(a|b){12}c/) ¦ $split(b, /(a+ ?)+$/) ¦ $match(b, /a/, 5) ¦
    ($m := /(?:[ab]{3})*c/; $m(a))`,
}

export function hostileBodies(bytes: number): readonly (() => HostileBody)[] {
  return (Object.keys(sources) as (keyof typeof bodies)[]).map((name) => () => ({
    name,
    payload: bodies[name](bytes),
    sources: sources[name].split('¦').map((each) => each.trim()),
  }))
}
