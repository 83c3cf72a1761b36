import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JoinedRequest, RunRecord } from '../../store/port.ts'
import { composed, maxCompositionBytes } from './coalesced.ts'

const start = Date.UTC(2026, 0, 1)

function runOf(keep: 'latest' | 'all'): RunRecord {
  const coalesce = { key: 'k', keep, deadline: start + 60_000, maxPerHour: 30 }
  const content = { message: 'push 1', prompt: '[push 1]' }
  return { id: 'run', requestId: 'r1', createdAt: start, ...content, coalesce } as RunRecord
}

/** Makes the requests 2 to `last`, a second apart. */
function joinedUpTo(last: number, contentOf = contentOfPush): JoinedRequest[] {
  return Array.from({ length: last - 1 }, (_, index) => {
    const number = index + 2
    const content = contentOf(number)
    return { requestId: `r${number}`, at: start + (number - 1) * 1000, ...(content && { content }) }
  })
}

function contentOfPush(number: number): JoinedRequest['content'] {
  return { message: `push ${number}`, prompt: `[push ${number}]` }
}

test('a run that no request joined asks its own prompt', () => {
  for (const keep of ['latest', 'all'] as const) {
    const run = composed(runOf(keep))
    assert.deepEqual([run.message, run.prompt], ['push 1', '[push 1]'])
    assert.deepEqual([run.coalesce?.count, run.coalesce?.requestIds], [1, ['r1']])
  }
})

test('a run without coalesce and a composed run stay as they are', () => {
  const { coalesce: _, ...plain } = runOf('all')
  assert.equal(composed(plain), plain)
  const first = composed(runOf('all'), joinedUpTo(3))
  assert.equal(composed(first, joinedUpTo(9)), first)
})

test('with `latest` the newest request of a burst follows a sentence with their number and times', () => {
  const joined = joinedUpTo(20, (number) => (number === 20 ? contentOfPush(number) : undefined))
  const run = composed(runOf('latest'), joined)
  const head =
    'This run stands for 20 requests of one burst, received between 2026-01-01T00:00:00.000Z and ' +
    '2026-01-01T00:00:19.000Z; this is the newest of them:'
  assert.equal(run.prompt, `${head}\n\n[push 20]`)
  assert.equal(run.message, `${head}\n\npush 20`)
  assert.deepEqual([run.coalesce?.count, run.coalesce?.requestIds?.at(-1)], [20, 'r20'])
})

test('several messages of one request are described as such, and the request is named once', () => {
  const joined = joinedUpTo(3).map((each) => ({ ...each, requestId: 'r1', at: start }))
  const all = composed(runOf('all'), joined)
  assert.match(
    all.prompt,
    /^This run stands for 3 messages of 1 request of one burst, received at 2026-01-01T00:00:00\.000Z; they follow/,
  )
  assert.deepEqual([all.coalesce?.count, all.coalesce?.requests, all.coalesce?.requestIds], [3, 1, ['r1']])
  const two = composed(runOf('latest'), [...joined, { requestId: 'r9', at: start + 1000 }])
  assert.match(two.prompt, /^This run stands for 4 messages of 2 requests of one burst, received between /)
  assert.deepEqual(two.coalesce?.requestIds, ['r1', 'r9'])
})

test('with `all` each request follows, numbered, with its time, the oldest first', () => {
  const run = composed(runOf('all'), joinedUpTo(3))
  assert.equal(
    run.prompt,
    `This run stands for 3 requests of one burst, received between 2026-01-01T00:00:00.000Z and 2026-01-01T00:00:02.000Z; they follow, the oldest first:

1. 2026-01-01T00:00:00.000Z
[push 1]

2. 2026-01-01T00:00:01.000Z
[push 2]

3. 2026-01-01T00:00:02.000Z
[push 3]`,
  )
  assert.match(run.message, /\n\n2\. 2026-01-01T00:00:01\.000Z\npush 2\n\n/)
  assert.deepEqual(run.coalesce?.requestIds, ['r1', 'r2', 'r3'])
})

test('requests that do not fit are left out, the oldest first, and their number is named', () => {
  const prompt = '€'.repeat(20_000)
  const joined = joinedUpTo(10, (number) => ({ message: `m${number}`, prompt }))
  const run = composed(runOf('all'), joined)
  assert.match(run.prompt, /; 6 older ones were left out; they follow/)
  assert.deepEqual(run.prompt.match(/^\d+\. /gm), ['7. ', '8. ', '9. ', '10. '])
  assert.ok(Buffer.byteLength(run.prompt) <= maxCompositionBytes)
  assert.deepEqual(run.message.match(/^m\d+$/gm), ['m7', 'm8', 'm9', 'm10'])
  assert.equal(run.coalesce?.count, 10)
})

test('a request without stored content is left out with all older ones', () => {
  const joined = joinedUpTo(4, (number) => (number === 2 ? undefined : contentOfPush(number)))
  const run = composed(runOf('all'), joined)
  assert.match(run.prompt, /; 2 older ones were left out;/)
  assert.deepEqual(run.prompt.match(/^\d+\. /gm), ['3. ', '4. '])
})

test('the prompt has the newest request however long it is', () => {
  const prompt = 'x'.repeat(maxCompositionBytes + 1)
  const joined = joinedUpTo(2, () => ({ message: 'm', prompt }))
  const run = composed(runOf('all'), joined)
  assert.ok(run.prompt.endsWith(prompt))
  assert.match(run.prompt, /; 1 older one was left out;/)
})

test('a burst of any size fits into its bounds, and requests that are no longer known count', () => {
  const joined = joinedUpTo(1001, (number) => ({ message: 'm', prompt: `[${number}]`.repeat(20) }))
  const run = composed(runOf('all'), joined, 4000)
  assert.ok(Buffer.byteLength(run.prompt) <= maxCompositionBytes)
  assert.match(
    run.prompt,
    /^This run stands for 4001 messages .*; 3001 older ones were left out; they follow/,
  )
  assert.deepEqual(run.prompt.match(/^\d+\. /gm)?.at(0), '3002. ')
  assert.deepEqual([run.coalesce?.count, run.coalesce?.requestIds?.length], [4001, 1000])
  assert.equal(run.coalesce?.requestIds?.at(-1), 'r1001')
})
