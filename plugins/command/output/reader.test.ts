import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Progress } from '@reveille/kit'
import type { OutputConfiguration } from '../configuration.ts'
import { tokensSince } from '../state.ts'
import { compileOutput } from './reader.ts'

/** `chunk` characters at a time. */
function read(output: OutputConfiguration, text: string, chunk = 7) {
  const reported: Progress[] = []
  const reader = compileOutput(output)((progress) => void reported.push(progress))
  for (let at = 0; at < text.length; at += chunk) reader.write(text.slice(at, at + chunk))
  return { reported, ...reader.end() }
}

function linesOf(...values: unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n')
}

test('lines are read the same however they are cut into chunks', () => {
  const output = { format: 'jsonl', text: '/text' } as const
  const text = linesOf({ text: 'one' }, 'no JSON', { text: 'zwei – größer' }, '', { other: 1 })
  for (const chunk of [1, 2, 3, 50, 1000]) {
    for (const end of ['', '\n', '\r\n']) {
      const { reply, reported } = read(output, text.replaceAll('\n', end || '\n') + end, chunk)
      assert.equal(reply, 'zwei – größer')
      assert.deepEqual(reported, [{ text: 'one' }, { text: 'zwei – größer' }])
    }
  }
})

test('the last matching line holds the reply', () => {
  const output = {
    format: 'jsonl',
    text: { match: { '/type': 'said', '/by/role': 'agent', '/final': true }, at: '/text' },
  } as const
  const said = { type: 'said', by: { role: 'agent' }, final: true, text: 'first' }
  const others = [
    { ...said, final: 'true' },
    { ...said, by: { role: 'user' } },
    { ...said, type: 'x' },
    [],
    7,
  ]
  assert.equal(read(output, linesOf(said, { ...said, text: 'last' }, ...others)).reply, 'last')
  assert.equal(read(output, linesOf(...others)).reply, undefined)
})

test('pointers follow RFC 6901, and a star means every member', () => {
  const value = {
    'a/b': { '~': ['x', 'y'] },
    '': { '': 'blank' },
    '*': 1,
    m: { p: { n: 1 }, q: { n: 2 }, r: {} },
  }
  const at = (text: string) => read({ format: 'json', text }, JSON.stringify(value)).reply
  assert.equal(at('/a~1b/~0/1'), 'y')
  assert.equal(at('/a~1b/~0/*'), 'xy')
  assert.equal(at('//'), 'blank')
  assert.equal(at('/m/p'), '{"n":1}')
  assert.equal(at('/constructor'), undefined)
  const usage = { input: '/m/*/n', output: ['/m/p/n', '/m/q/n', '/m/r/n'], cached: '/*' }
  const { tokens } = read({ format: 'json', text: '/m', usage }, JSON.stringify(value))
  assert.deepEqual(tokens, { input: 3, output: 3, cached: 1 })
})

test('a greeting before JSON and a warning after it are ignored', () => {
  const output = { format: 'json', text: '/response', session: '/id' } as const
  const text = `Loaded {credentials}.\n${JSON.stringify({ response: 'ok', id: 'c-1' }, null, 2)}\nBye.\n`
  const { reply, session } = read(output, text)
  assert.deepEqual([reply, session], ['ok', 'c-1'])
  for (const unreadable of ['', 'null', '[]', '{"response"', 'Loaded {credentials}.'])
    assert.equal(read(output, unreadable).unreadable, unreadable)
})

test('an empty reply is a reply, and one that is not a string is shown as JSON', () => {
  const output = { format: 'json', text: '/text' } as const
  const replies = ['""', 'null', '7', '{"a":[1]}'].map((text) => read(output, `{"text":${text}}`).reply)
  assert.deepEqual(replies, ['', '', '7', '{"a":[1]}'])
})

test('any value but false is an error, with its own words or else the reply as its text', () => {
  const output = { format: 'json', text: '/text', error: '/error' } as const
  const errorOf = (error: unknown) => read(output, JSON.stringify({ text: 'Why.', error })).error
  for (const fine of [undefined, null, false, '']) assert.equal(errorOf(fine), undefined)
  assert.equal(errorOf('Quota.'), 'Quota.')
  assert.equal(errorOf({ message: 'Quota.' }), 'Quota.')
  assert.equal(errorOf({ name: 'X', data: { message: 'Quota.' } }), 'Quota.')
  assert.equal(errorOf({ name: 'X' }), '{"name":"X"}')
  assert.equal(errorOf(true), 'Why.')
  assert.equal(read(output, '{"error":true}').error, 'it gave no reason')
})

test('progress follows the first rule that matches, and a note stays short', () => {
  const progress = [
    { match: { '/type': 'tool' }, note: 'runs {/name} in {/where}' },
    { match: { '/type': 'text' }, text: '/text' },
    { note: '{/type}' },
  ]
  const lines = [{ type: 'tool', name: 'ls' }, { type: 'text', text: 'Hi' }, { type: 'y'.repeat(300) }]
  const { reported } = read({ format: 'jsonl', text: '/reply', progress }, linesOf(...lines))
  assert.deepEqual(reported, [{ note: 'runs ls in ' }, { text: 'Hi' }, { note: 'y'.repeat(200) }])
})

test('the cost of a turn is the difference of counts that grow through a conversation', () => {
  assert.deepEqual(tokensSince({ input: 30, output: 3 }, { input: 10, output: 1 }), { input: 20, output: 2 })
  assert.deepEqual(tokensSince({ input: 30, cached: 5 }), { input: 30, cached: 5 })
  assert.deepEqual(tokensSince({ input: 8, output: 9 }, { input: 10, output: 1 }), { input: 8, output: 9 })
})

test('lines of text are reported as they arrive, whole and many at a time', () => {
  const text = 'one\r\n\u001b[31mtwo\u001b[0m\n\nthree'
  const { reply, reported } = read({}, text, 6)
  assert.equal(reply, 'one\r\ntwo\n\nthree')
  assert.deepEqual(
    reported.map((progress) => progress.text),
    ['one\n', 'two\n', '\n', 'three\n'],
  )
  assert.equal(read({}, 'a line\n'.repeat(50_000), 65_536).reported.length, 6)
})
