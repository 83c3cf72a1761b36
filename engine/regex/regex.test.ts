import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileRegex, maxSubjectLength, RegexLimitError, RegexSyntaxError } from './regex.ts'

test('the first match is found with its groups, in UTF-16 units', () => {
  assert.deepEqual(compileRegex('(a+)(b)?').exec('😀 xaab'), { index: 4, text: 'aab', groups: ['aa', 'b'] })
  const second = { index: 4, text: 'aa', groups: ['aa', undefined] }
  assert.deepEqual(compileRegex('(a+)(b)?').exec('aab aac', 4), second)
  assert.equal(compileRegex('x').exec('aab'), undefined)
})

test('^ matches the beginning of the text wherever the search begins, and of each line with multiline', () => {
  assert.equal(compileRegex('^a').exec('aa', 1), undefined)
  assert.equal(compileRegex('^b$', { multiline: true }).exec('a\nb\nc')?.index, 2)
  assert.equal(compileRegex('\\bb').exec('ab b', 1)?.index, 3)
})

test('case is ignored on request, \\d, \\w and \\b know ASCII only, and each set of flags is compiled once', () => {
  assert.equal(compileRegex('once'), compileRegex('once'))
  assert.notEqual(compileRegex('once'), compileRegex('once', { ignoreCase: true }))
  assert.equal(compileRegex('STRASSE', { ignoreCase: true }).test('Die Strasse'), true)
  assert.equal(compileRegex('\\d').test('٣'), false)
  assert.equal(compileRegex('\\p{Nd}').test('٣'), true)
})

/** Source, offset, and what message and hint contain. */
const refused: readonly (readonly [string, number, RegExp])[] = [
  ['ab(?=c)', 2, /lookahead.*group/s],
  ['ab(?!c)', 2, /lookahead.*second expression/s],
  ['a(?<=b)c', 1, /lookbehind/],
  ['(a)\\1', 3, /backreference/],
  ['(?<n>a)\\k<n>', 7, /backreference/],
  ['(?>a)', 0, /atomic.*\(\?:/s],
  ['a++', 1, /repeated.*Possessive/s],
  ['a{2,1}', 1, /count/],
  ['[z-a]', 1, /range/],
  ['(ab', 0, /missing closing \).*a \\ before/s],
  ['a)b', 0, /unexpected \).*a \\ before/s],
  ['a[bc', 1, /missing closing \]/],
  ['a\\', 0, /trailing backslash/],
  ['*a', 0, /missing argument to repetition/],
  ['\\Z', 0, /invalid escape sequence: \\Z.*without the/s],
  ['(?:a{999}){1000}', 10, /count/],
  ['(?:[a-c]{900}|[d-f]{900}|[g-i]{900}|[j-l]{900}|[m-o]{900})', 0, /too large.*Count less/s],
]

for (const [source, offset, what] of refused)
  test(`${source.slice(0, 20)} is refused with its place and the alternative`, () => {
    const isExpected = (error: unknown) =>
      error instanceof RegexSyntaxError &&
      error.offset === offset &&
      what.test(`${error.message} ${error.hint}`)
    assert.throws(() => compileRegex(source), isExpected)
  })

test('text in a class or after a backslash that only looks like unsupported syntax is accepted', () => {
  assert.equal(compileRegex('[(?=]').test('='), true)
  assert.equal(compileRegex('\\(\\?=').test('(?='), true)
  assert.equal(compileRegex('[[:alpha:]]+').exec('1ab')?.text, 'ab')
  assert.equal(compileRegex('[^]]').exec('ab]')?.index, 1)
  assert.equal(compileRegex('(?<year>\\d{4})/\\u0041\\x41').test('2026/AA'), true)
})

test('a text over the limit is refused', () => {
  const regex = compileRegex('a')
  assert.equal(regex.test('a'.repeat(maxSubjectLength)), true)
  assert.throws(() => regex.test('a'.repeat(maxSubjectLength + 1)), RegexLimitError)
  assert.throws(() => regex.exec('a'.repeat(maxSubjectLength + 1)), RegexLimitError)
})

/** A backtracking engine would never finish these, and a naive automaton would need gigabytes of states. */
const nasty =
  String.raw`(a+)+$ (a|a)*c (.*)(.*)(.*)(.*)(.*)(.*)x (a|b)*a(a|b){12}c (?:a[ab]{30}|b[ab]{25}){3}c [ab]*a[ab]{200}c
  (?:a?){400}(?:a{400})c (?i)(?:\w+\s?)+$ (x+x+)+y (?:(?:a*)*)*b`.split(/\s+/)

for (const source of nasty)
  test(`no text that isSlow does not report makes ${source} slow`, () => {
    const regex = compileRegex(source)
    const made = Array.from({ length: maxSubjectLength }, (_, index) => ((index * index) % 7 < 3 ? 'a' : 'b'))
    const alike = 'a'.repeat(maxSubjectLength)
    for (const whole of [`c${made.join('')}`, alike, `${alike}!`]) {
      let length = maxSubjectLength
      while (regex.isSlow(whole.slice(0, length))) length = Math.floor(length / 2)
      const text = `${whole.slice(0, length - 1)}${whole.at(-1)}`
      for (const ask of [() => regex.test(text), () => regex.exec(text)]) {
        const { user } = process.threadCpuUsage()
        ask()
        const spent = (process.threadCpuUsage().user - user) / 1000
        assert.ok(spent < 150, `${spent} ms for ${text.length} characters`)
      }
    }
  })

/** Expressions with the same meaning in JavaScript's engine. */
const part = fc.constantFrom(...'a b . [ab] [^a] \\b ^ $ (a) (b|ab) (?:a|b) é \\d'.split(' '))
const repeated = fc.tuple(part, fc.constantFrom('', '', '?', '*', '+', '??', '*?', '+?', '{1,2}'))
const piece = repeated.map(([one, mark]) => (/^(\^|\$|\\b)$/.test(one) ? one : one + mark))
const expression = fc.array(piece, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''))
const subject = fc
  .array(fc.constantFrom('a', 'b', 'c', '1', ' ', 'é', '\n', '😀'), { maxLength: 12 })
  .map((characters) => characters.join(''))

test('the match, and its place, are those of JavaScript’s own engine', () => {
  const sources = fc.array(expression, { minLength: 1, maxLength: 2 })
  const property = fc.property(sources, subject, fc.nat(4), (sources, text, from) => {
    const source = sources.join('|')
    const own = new RegExp(source, 'gu')
    own.lastIndex = Math.min(from, text.length)
    // Between the halves of a surrogate pair, the two engines begin at different places.
    fc.pre(!/^[\udc00-\udfff]/.test(text.slice(own.lastIndex)))
    const start = own.lastIndex
    const expected = own.exec(text)
    const actual = compileRegex(source).exec(text, start)
    assert.equal(compileRegex(source).test(text), new RegExp(source, 'u').test(text))
    assert.deepEqual([actual?.index, actual?.text], [expected?.index, expected?.[0]])
  })
  fc.assert(property, { numRuns: 1_000 })
})
