import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { plainText } from '../../boundary/segment.ts'
import { rendered, segmentsOf } from './fixture.ts'
import { helpers } from './helpers.ts'

type Case = readonly [template: string, payload: unknown, expected: string]

const sameTimes =
  `2026-01-02 03:04:05 ¦ 2026-01-02 03:04:05 UTC ¦ 2026-01-02 04:04:05 +0100 ¦ 2026-01-02T04:04:05+01 ¦
  20260102T030405Z ¦ Fri, 02 Jan 2026 04:04:05 +0100 ¦ 2 Jan 2026 03:04:05 ¦ 1767323045 ¦ 1767323045000 ¦
  1767323045.000200`.split(/ ¦\s+/)
/** Values that are ambiguous, or no time, are printed unchanged. */
const noTimes = ' 01/02/2026 24/11/2026 12 2026 20260102030405 2026-02-30 2026-01-02T25:00Z'.split(' ')

const cases: Readonly<Record<string, readonly Case[]>> = {
  json: [
    ['{{json a}}', { a: 'x "y"' }, '"x \\"y\\""'],
    ['{{json a 1}}', { a: [1] }, '[\n 1\n]'],
    ['[{{json a}}]', {}, '[]'],
    ['{{json a}}', { a: null }, 'null'],
  ],
  default: [
    ['{{default a "x"}}', {}, 'x'],
    ['{{default a b "x"}}', { a: '', b: 'y' }, 'y'],
    ['{{default a "x"}}', { a: 0 }, '0'],
  ],
  truncate: [
    ['{{truncate a 5}}', { a: 'abcdefgh' }, 'abcd…'],
    ['{{truncate a 5 "..."}}', { a: 'abcdefgh' }, 'ab...'],
    ['{{truncate a 3}}', { a: 'a👍👍👍' }, 'a…'],
    ['{{truncate a b}}', { a: 'abc', b: 'x' }, 'abc'],
    ['[{{truncate a 5}}]', {}, '[]'],
  ],
  join: [
    ['{{join a}}', { a: ['x', 'y'] }, 'x, y'],
    ['{{join a "/"}}', { a: [1, null, { b: 2 }] }, '1//{"b":2}'],
    ['{{join a}}', { a: 'alone' }, 'alone'],
    ['{{join a ", " "name"}}', { a: [{ name: 'fog' }, { name: 'lamp', id: 2 }] }, 'fog, lamp'],
    ['{{join a " " "name"}}', { a: [{ id: 1 }, 'text', { name: null }, { name: 7 }, [1]] }, 'text 7 [1]'],
    ['{{join a " " "constructor"}}', { a: [{}, { name: 'x' }] }, ''],
    ['{{join a " " b}}', { a: [{ name: 'x' }], b: 'name' }, 'x'],
    ['{{join a " " "name"}}', { a: { name: 'alone' } }, '{"name":"alone"}'],
  ],
  date: [
    ['{{date a}}', { a: '2026-01-02T03:04:05.678+01:00' }, '2026-01-02T02:04:05Z'],
    ['{{date a}}', { a: 1767323045 }, '2026-01-02T03:04:05Z'],
    ['{{date a "YYYY-MM-DD HH:mm:ss"}}', { a: 1767323045000 }, '2026-01-02 03:04:05'],
    ['{{date a "DD.MM. HH:mm" tz="Europe/Berlin"}}', { a: 1767323045 }, '02.01. 04:04'],
    ['{{date now "YYYY"}}', {}, '2026'],
    ['{{date a}}{{date b}}{{date a "YYYY" tz="UTC"}}', { a: 'soon' }, 'soonsoon'],
    ['{{date a "YYYY" tz=zone}}', { a: 1767323045, zone: 'Mars/Base' }, '1767323045'],
    ['{{date a pattern}}', { a: 1767323045, pattern: 'yyyy' }, '2026-01-02T03:04:05Z'],
    ['{{date a tz="Europe/Berlin"}}', { a: 1767323045 }, '2026-01-02T04:04:05+01:00'],
    ['{{date a tz="Z"}} {{date a "HH:mm" tz="+2"}}', { a: 1767323045 }, '2026-01-02T03:04:05Z 05:04'],
    ['{{date a "YYYY-MM-DDTHH:mm:ssZ" tz="-03:30"}}', { a: 1767323045 }, '2026-01-01T23:34:05-03:30'],
    ['{{date a "YYYY年MM月DD日"}}', { a: 1767323045 }, '2026年01月02日'],
    // A time without a zone is in UTC, and a day alone belongs to no zone.
    ['{{date a}}', { a: '2026-01-02T03:04:05' }, '2026-01-02T03:04:05Z'],
    ['{{date a}}', { a: '2026-01-02' }, '2026-01-02T00:00:00Z'],
    ['{{date a "DD.MM.YYYY" tz="America/New_York"}}', { a: '2026-01-02' }, '02.01.2026'],
    ...sameTimes.map((a): Case => ['{{date a}}', { a }, '2026-01-02T03:04:05Z']),
    ...noTimes.map((a): Case => ['{{date a "YYYY-MM-DD"}}', { a }, a]),
    ['{{date a}}', { a: true }, 'true'],
  ],
  eq: [
    ['{{#if (eq a "x")}}yes{{/if}}', { a: 'x' }, 'yes'],
    ['{{eq a 1}}', { a: '1' }, 'false'],
  ],
  and: [
    ['{{and a b}}', { a: 1, b: 2 }, '2'],
    ['{{#if (and a b)}}x{{else}}y{{/if}}', { a: 1, b: [] }, 'y'],
    ['{{#if (and a b)}}x{{else}}y{{/if}}', { b: 2 }, 'y'],
    ['{{#if (and a b)}}x{{else}}y{{/if}}', { a: null, b: 2 }, 'y'],
  ],
  or: [
    ['{{or a b}}', { b: 'second' }, 'second'],
    ['[{{or a b}}]', {}, '[]'],
  ],
  not: [['{{not a}}{{not b}}', { a: 1 }, 'falsetrue']],
  plural: [
    ['{{plural a "commit"}}', { a: 1 }, 'commit'],
    ['{{plural a "commit"}}', { a: [1, 2] }, 'commits'],
    ['{{plural a "entry" "entries"}}', { a: 0 }, 'entries'],
  ],
  quote: [
    ['{{quote a}}', { a: 'one\ntwo' }, '> one\n> two'],
    ['[{{quote a}}]', {}, '[]'],
  ],
}

for (const [template, payload, expected] of Object.values(cases).flat())
  test(`${template} of ${JSON.stringify(payload)} is ${JSON.stringify(expected)}`, () =>
    assert.equal(rendered(template, payload), expected))

test('a time without a zone is the same on machines in every time zone', async () => {
  const program = `import { formatDate } from ${JSON.stringify(import.meta.resolve('./date.ts'))}
console.log(formatDate('2026-07-02T03:04:05'), formatDate('2026-07-02'), formatDate('2 Jul 2026 03:04'))`
  for (const TZ of ['America/New_York', 'Asia/Kolkata']) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, TZ },
    })
    assert.equal(stdout, '2026-07-02T03:04:05Z 2026-07-02T00:00:00Z 2026-07-02T03:04:00Z\n', TZ)
  }
})

test('every helper has its cases and an example that compiles', () => {
  assert.deepEqual(Object.keys(cases).sort(), Object.keys(helpers).sort())
  for (const { usage } of Object.values(helpers))
    rendered(usage.startsWith('{{#if') ? `${usage}{{/if}}` : usage)
})

test('indented JSON that would become enormous through nesting is refused before it is made', async () => {
  const tower = '['.repeat(900) + ']'.repeat(900)
  const payload = `[${Array.from({ length: 500 }, () => tower).join()}]`
  const indented = '{{truncate (json payload 2) 20}}'
  assert.throws(() => rendered(indented, payload), { code: 'TOO_LARGE_RENDERED' })
  assert.equal(rendered('{{truncate (json payload) 5}}', payload), '[[[[…')
})

test('the property of each element of a long list is joined, and not the elements themselves', async () => {
  const a = Array.from({ length: 60_000 }, (_, n) => ({ n }))
  const result = plainText(segmentsOf('{{truncate (join a " ") 20}} {{join a " " "n"}}', { a }, 4_000_000))
  assert.equal(result, `{"n":0} {"n":1} {"n… ${a.map(({ n }) => n).join(' ')}`)
})
