import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { watchEventLoop } from '../../resolve/event-loop-fixture.ts'
import type { WrittenText } from './parse-text.ts'
import { createThreadParser, parserInPlace, type ThreadOptions } from './parser.ts'

function setUp(context: TestContext, options?: ThreadOptions) {
  const parser = createThreadParser(options)
  context.after(() => parser.close())
  return parser
}

function written(text: string): WrittenText {
  return { kind: 'configuration', file: '/f.yaml', text }
}

const threads = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length

const samples: Readonly<Record<string, string>> = {
  'a configuration': 'gateway: { auth: { token: &t "abc" } }\nhooks: { token: *t, 1: [.nan, -0.0, null] }\n',
  'a key called __proto__': '{ "__proto__": { "a": 1 } }',
  'comments of JSON5': '// one\n{ a: [1, /* two */ 2] }\n',
  nothing: '',
  'a broken text': 'gateway: { auth: { token: "abc\n',
  'a comment without an end': '{ a: /* 1',
}

test('a thread gives the same result as parsing in place', async (context) => {
  const parser = setUp(context)
  const asked = Object.entries(samples)
  const answers = await Promise.all(asked.map(([, text]) => parser.parse(written(text))))
  for (const [index, [what, text]] of asked.entries())
    assert.deepEqual(answers[index], await parserInPlace.parse(written(text)), what)
})

test('a text that takes too long is refused at its deadline, and the next one is parsed in a new thread', async (context) => {
  const parser = setUp(context, { deadlineMs: 300 })
  const endless = written(`a: [${'[[1, 2], {b: c}], '.repeat(300_000)}]`)
  const { longest } = await watchEventLoop(() =>
    assert.rejects(parser.parse(endless), {
      code: 'FILE_TOO_LARGE',
      message: 'takes longer than 0.3 seconds to parse',
    }),
  )
  assert.ok(longest < 200, `${longest} ms`)
  await assert.rejects(parser.parse(endless))
})

test('an idle thread is ended, and started again by the next text', async (context) => {
  const before = threads()
  const parser = setUp(context, { idleMs: 1 })
  await parser.parse(written('a: 1'))
  while (threads() > before) await new Promise(setImmediate)
  assert.ok('value' in (await parser.parse(written('a: 2'))))
})

test('closing ends the thread and rejects texts that are not parsed yet', async () => {
  const before = threads()
  const parser = createThreadParser()
  const asked = [parser.parse(written('a: 1')), parser.parse(written('b: 2'))]
  const settled = Promise.allSettled(asked)
  await parser.close()
  for (const { status } of await settled) assert.equal(status, 'rejected')
  await assert.rejects(parser.parse(written('c: 3')), { code: 'FILE_UNREADABLE' })
  assert.equal(threads(), before)
})
