import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryRecord } from '../store/port.ts'
import { createSentMessages, followSentMessages } from './sent-messages.ts'

const day = 86_400_000
const reply = 'The build is green again, all 42 tests.'

function open(options: { maxCount?: number } = {}) {
  const clock = { now: 1_000_000_000_000 }
  return { clock, words: createSentMessages({ now: () => clock.now, ...options }) }
}

test('a sent message is found wherever it is in a payload', () => {
  const { words } = open()
  assert.ok(words.isEmpty())
  words.note(reply)
  assert.ok(!words.isEmpty())
  for (const payload of [
    reply,
    { event: { text: reply } },
    [[1, null, true], { comments: [{ body: 'hm' }, { body: reply }] }],
    Object.assign(Object.create(null), { text: ['a', reply] }),
  ])
    assert.ok(words.isEchoedIn(payload), JSON.stringify(payload))
})

test('white space around a message and between its words does not hide it', () => {
  const { words } = open()
  words.note(`  ${reply.replaceAll(' ', '\n\n')}\u00a0`)
  const variants = [reply, ` ${reply}\r\n`, reply.replaceAll(' ', '\t\u3000 '), `\ufeff${reply}\u2028`]
  for (const text of variants) assert.ok(words.isEchoedIn({ text }), JSON.stringify(text))
})

test('only whole strings count, and field names do not', () => {
  const { words } = open()
  words.note(reply)
  for (const payload of [
    `> ${reply}`,
    `${reply}!`,
    reply.slice(1),
    reply.toUpperCase(),
    reply.replace('green', 'greet'),
    { [reply]: 1 },
    reply.split(' '),
    42,
    null,
    undefined,
  ])
    assert.ok(!words.isEchoedIn(payload), JSON.stringify(payload))
})

test('a short message is no echo', () => {
  const { words } = open()
  const short = 'x'.repeat(23)
  words.note(short)
  words.note(`${short}${' '.repeat(50)}`)
  assert.ok(words.isEmpty())
  assert.ok(!words.isEchoedIn({ short }))
  words.note(`${short}y`)
  assert.ok(words.isEchoedIn(`${short}y`))
})

test('a message is forgotten a day after it was sent last', () => {
  const { words, clock } = open()
  words.note(reply)
  clock.now += day - 1
  assert.ok(words.isEchoedIn({ reply }))
  words.note(reply)
  clock.now += day - 1
  assert.ok(words.isEchoedIn({ reply }))
  clock.now += 1
  assert.ok(!words.isEchoedIn({ reply }))
  assert.ok(words.isEmpty())
})

test('only the newest messages are kept, and two of the same length are forgotten one by one', () => {
  const { words } = open({ maxCount: 2 })
  const texts = [1, 2, 3].map((number) => `a text that is long enough ${number}`)
  for (const text of texts) words.note(text)
  assert.deepEqual(
    texts.map((text) => words.isEchoedIn({ text })),
    [false, true, true],
  )
  words.note(texts[1] ?? '')
  words.note(texts[0] ?? '')
  assert.deepEqual(
    texts.map((text) => words.isEchoedIn({ text })),
    [true, true, false],
  )
})

test('only the beginning of a large payload is looked at, in little time', () => {
  const { words } = open()
  words.note(reply)
  words.note('a text of many words '.repeat(50_000))
  const filler = 'words and\nspaces '.repeat(2000)
  const [wide, deep] = [Array<number>(2_000_000).fill(1), { at: reply } as object]
  let nested = deep
  for (let level = 0; level < 900; level += 1) nested = { nested }
  assert.ok(words.isEchoedIn(nested))
  assert.ok(words.isEchoedIn([reply, ...Array<string>(5000).fill('x')]))
  assert.ok(words.isEchoedIn([[[[filler]]], [reply]]), 'what lies higher comes first')
  const spoken = Array<string>(1000).fill(filler)
  for (const payload of [wide, [...wide.slice(0, 10_000), reply], [...spoken, reply], spoken]) {
    const startedAt = process.cpuUsage().user / 1000
    assert.ok(!words.isEchoedIn(payload))
    assert.ok(process.cpuUsage().user / 1000 - startedAt < 500)
  }
})

test('messages that another node is about to send are known as soon as their delivery exists, each read once', async () => {
  const { words } = open()
  const end = new AbortController()
  const read: string[] = []
  const delivery = async (id: string) => {
    read.push(id)
    return { id, text: `${reply} ${id}` } as DeliveryRecord
  }
  async function* changes() {
    const change = { type: 'delivery', id: 'one', state: 'pending' } as const
    yield change
    yield { ...change, type: 'run', id: 'none' } as const
    yield change
    yield { ...change, id: 'two', state: 'delivered' }
    end.abort()
  }
  await followSentMessages(words, { changes, read: { delivery } }, end.signal)
  assert.deepEqual(read, ['one'])
  assert.ok(words.isEchoedIn({ text: `${reply} one` }))
})
