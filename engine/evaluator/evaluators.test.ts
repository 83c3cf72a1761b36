import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { actionOf, requestOf } from '../compile/fixture.ts'
import { watchEventLoop } from '../resolve/event-loop-fixture.ts'
import type { AgentAction, Decision } from '../resolve/model/decision.ts'
import { processorMs } from '../resolve/model/processor-time.ts'
import { checkMs } from '../threads/watch.ts'
import { TransformError } from '../transform/port.ts'
import { createDeadline, createEvaluators } from './evaluators.ts'
import { containedOf, createManualTimers, evaluatorsOf } from './fixture.ts'
import { phases, type SettingsContent, slots } from './protocol.ts'

const evaluated = (source: string) => ({ message: `{% ${source} %}` })
const messageOf = (decision: Decision) => (actionOf(decision) as AgentAction).message

/** Returns the messages of all actions. */
function messagesOf(decision: Decision): readonly string[] {
  assert.ok(decision.outcome === 'accepted', JSON.stringify(decision))
  return decision.actions.map((action) => (action as AgentAction).message)
}

const codeOf = (decision: Decision) =>
  'code' in decision ? `${decision.outcome} ${decision.code}` : decision.outcome
const unread = (body: string) => ({
  ...requestOf({}),
  payload: undefined,
  isUndecoded: true,
  rawBody: Buffer.from(body),
})
const manyNumbers = Array.from({ length: 200_000 }, (_, index) => index)

test('an expression with functions of the library gives the same result in a thread as here', async (context) => {
  const source = '$string($reverse(items.price)[0] + 3) & " in all, " & $now("[Y]")'
  const snapshot = await containedOf(evaluatorsOf(context), [evaluated(source)])
  const decision = await snapshot.resolve(requestOf({ items: [{ price: 3 }, { price: 4 }] }))
  assert.equal(messageOf(decision), '7 in all, 2026')
  assert.match((actionOf(decision) as AgentAction).sessionKey, /^hook:uuid-\d+$/)
  assert.ok(Object.isFrozen(actionOf(decision)))
})

test('a body of more than 256 KB is read, matched and rendered in a thread', async (context) => {
  const snapshot = await containedOf(evaluatorsOf(context), [
    { id: 'a', match: { body: { kind: 'a' } }, message: 'A' },
    { id: 'b', match: { body: { kind: 'b' } }, message: '{{kind}} {{list.length}} {{id}}' },
  ])
  const request = unread(`{"kind":"b","id":12345678901234567890,"list":[${'0,'.repeat(200_000)}0]}`)
  assert.equal(messageOf(await snapshot.resolve(request)), 'b 200001 12345678901234567890')
  const { candidates } = await snapshot.explain(request)
  assert.equal(candidates.map(({ mapping, verdict }) => `${mapping} ${verdict}`).join(), 'a failed,b matched')
  // It is refused for the same reasons as a short one.
  const broken = unread(`{"a":"${'x'.repeat(300_000)}"`)
  assert.equal(codeOf(await snapshot.resolve(broken)), 'refused INVALID_JSON')
  const deep = unread(`${'['.repeat(150_000)}${']'.repeat(150_000)}`)
  assert.equal(codeOf(await snapshot.resolve(deep)), 'refused NESTED_TOO_DEEP')
})

test('a transform is called once, although the request begins again in a thread', async (context) => {
  const calls: unknown[] = []
  const transforms = {
    'a.ts': async (call: { vars: unknown; base: unknown; rawBody: Uint8Array }) => {
      calls.push([{ ...(call.vars as object) }, Buffer.from(call.rawBody).toString()])
      return { kind: 'one', action: { message: { value: `transformed ${calls.length}` } } } as const
    },
  }
  const mappings = [
    { id: 'a', message: 'x', transform: { module: 'a.ts' }, continue: true },
    { id: 'b', vars: { n: '$reverse(list)[0]' }, message: '{{vars.n}}', transform: { module: 'a.ts' } },
  ]
  const snapshot = await containedOf(evaluatorsOf(context), mappings, { transforms })
  const decision = await snapshot.resolve(requestOf({ list: [1, 2] }))
  assert.deepEqual(messagesOf(decision), ['transformed 1', 'transformed 2'])
  assert.equal(JSON.stringify(calls), '[[{},"{\\"list\\":[1,2]}"],[{"n":2},"{\\"list\\":[1,2]}"]]')
})

test('an endpoint with an expression is decided whole in a thread, which alone reads the bodies of a few mappings', async (context) => {
  const evaluators = evaluatorsOf(context)
  const run = context.mock.method(evaluators, 'run')
  const called: string[] = []
  const call = (name: string) => async () => {
    called.push(name)
    return { kind: 'one', action: {} } as const
  }
  const transforms = { 'plain.ts': call('plain'), 'evaluated.ts': call('evaluated') }
  const plain = { message: '{{a}}', transform: { module: 'plain.ts' } }
  const mappings = [
    { id: 'a', match: { path: 'few', body: { kind: 'x' } }, ...plain },
    { id: 'b', match: { path: 'few', when: "kind = 'y' and $exists(a)" }, message: 'b' },
    { id: 'plain', match: { path: 'plain' }, ...plain },
    ...Array.from({ length: 21 }, (_, index) => ({
      id: `m${index}`,
      match: { path: 'many', body: { kind: `${index}` } },
      message: index === 20 ? '{% $string(a) %}' : '{{a}}',
    })),
  ]
  const snapshot = await containedOf(evaluators, mappings, { transforms })
  for (const [endpoint, kind, readsPayload, trips, calls] of [
    ['few', 'x', false, 1, ['plain']],
    ['few', 'y', false, 1, []],
    ['plain', 'x', true, 0, ['plain']],
    ['many', '1', true, 0, []],
    ['many', '20', true, 1, []],
  ] as const) {
    run.mock.resetCalls()
    called.length = 0
    const request = requestOf({ kind, a: 1 }, { endpoint })
    const unread = Object.defineProperty({ ...request }, 'payload', { get: () => assert.fail('it is read') })
    assert.equal(snapshot.readsPayload(endpoint), readsPayload)
    assert.equal((await snapshot.resolve(readsPayload ? request : unread)).outcome, 'accepted')
    assert.equal(run.mock.callCount(), trips, kind)
    assert.deepEqual(called, calls)
  }
})

test('requests that await a transform hold no thread, and each goes on with its own state', async (context) => {
  const waiting: PromiseWithResolvers<void>[] = []
  const transforms = {
    'a.ts': async ({ vars }: { vars: unknown }) => {
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      await turn.promise
      return { kind: 'one', action: { message: { value: `${(vars as { n: number }).n}` } } } as const
    },
  }
  const mapping = { vars: { n: 'n + 0' }, message: 'x', transform: { module: 'a.ts' } }
  const mappings = [
    { id: 'slow', match: { when: 'n > 0' }, ...mapping, continue: true },
    { id: 'again', match: { when: 'n > 0' }, ...mapping, message: '{% $string(n) & "!" %}' },
    { id: 'quick', match: { when: 'n = 0' }, message: '{% "quick" %}' },
  ]
  const snapshot = await containedOf(evaluatorsOf(context), mappings, { transforms })
  const send = (n: number) => snapshot.resolve(requestOf({ n }, { sender: 'a' }))
  const slow = [1, 2, 3, 4].map(send)
  assert.equal(messageOf(await send(0)), 'quick')
  assert.equal(waiting.length, 4)
  // A second call comes from each request when its first one is answered.
  while (waiting.length < 8) {
    for (const turn of waiting) turn.resolve()
    await setImmediate()
  }
  for (const turn of waiting) turn.resolve()
  const decisions = await Promise.all(slow)
  assert.equal(decisions.flatMap(messagesOf).join(''), '11223344')
})

test('a request that awaits a transform begins again in another thread if its own is ended, and repeats no call', async (context) => {
  const turn = Promise.withResolvers<void>()
  let calls = 0
  const transforms = {
    'a.ts': async () => {
      calls += 1
      await turn.promise
      return { kind: 'one', action: {} } as const
    },
  }
  const mappings = [
    { id: 'slow', match: { when: 'n = 1' }, message: 'slow', transform: { module: 'a.ts' } },
    { id: 'hostile', match: { body: { n: 2 } }, message: '{% $count($distinct(list)) %}' },
  ]
  const snapshot = await containedOf(evaluatorsOf(context), mappings, { transforms })
  const slow = snapshot.resolve(requestOf({ n: 1 }, { sender: 'a' }))
  while (calls === 0) await setImmediate()
  const hostile = await snapshot.resolve(requestOf({ n: 2, list: manyNumbers }, { sender: 'a' }))
  assert.equal(codeOf(hostile), 'refused TOO_LARGE_RENDERED')
  turn.resolve()
  assert.equal(messageOf(await slow), 'slow')
  assert.equal(calls, 1)
})

test('work of the main loop for other requests, while a request awaits a transform, does not send that request to a thread', async (context) => {
  const evaluators = evaluatorsOf(context)
  const run = context.mock.method(evaluators, 'run')
  const transforms = {
    'a.ts': async () => {
      await setImmediate()
      const began = processorMs()
      while (processorMs() - began < 20);
      return { kind: 'one', action: { message: { value: 'transformed' } } } as const
    },
  }
  const mapping = { message: 'x {{list.length}}', transform: { module: 'a.ts' }, continue: true }
  const mappings = ['a', 'b', 'c'].map((id) => ({ ...mapping, id }))
  const snapshot = await containedOf(evaluators, mappings, { transforms })
  const decision = await snapshot.resolve(requestOf({ list: [1, 2] }))
  assert.deepEqual([messagesOf(decision).length, run.mock.callCount()], [3, 0])
})

test('a thousand mappings that no equality tells apart are named to the thread as one, and once', async (context) => {
  const evaluators = evaluatorsOf(context)
  const run = context.mock.method(evaluators, 'run')
  const mappings = Array.from({ length: 1_000 }, (_, index) => ({
    id: `m${index}`,
    match: { path: 'many', when: `$contains(a, "<${index}>")` },
    message: `${index}`,
  }))
  const snapshot = await containedOf(evaluators, mappings)
  for (const a of ['<7>', '<999>', '<1000>']) {
    const decision = await snapshot.resolve(requestOf({ a }, { endpoint: 'many' }))
    if (a === '<1000>') assert.equal(decision.outcome, 'ignored')
    else assert.equal(messageOf(decision), a.slice(1, -1))
  }
  const found = run.mock.calls.map(({ arguments: [job] }) => job.found.map(({ bucket }) => bucket))
  const listed = found.map((buckets) => buckets.map(({ length }) => length))
  assert.deepEqual(listed, [[1_000], [1_000], [1_000]])
  assert.equal(new Set(found.flat()).size, 1)
  const request = requestOf({ a: '' }, { endpoint: 'many' })
  const { candidates, more } = await snapshot.explain(request, { maxCandidates: 50 })
  assert.deepEqual([candidates.length, more], [50, 950])
})

test('a request that awaits a transform goes on, although its thread has forgotten its mappings meanwhile', async (context) => {
  const evaluators = evaluatorsOf(context)
  const { promise, resolve } = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const transforms = {
    'a.ts': async () => {
      begun.resolve()
      await promise
      return { kind: 'one', action: {} } as const
    },
  }
  const when = '$exists(a)'
  const mappings = [
    { id: 'first', match: { when }, message: 'first', transform: { module: 'a.ts' }, continue: true },
    { id: 'second', match: { when }, message: '{% "second" %}' },
  ]
  const snapshot = await containedOf(evaluators, mappings, { transforms })
  const slow = snapshot.resolve(requestOf({ a: 1 }, { sender: 'a' }))
  await begun.promise
  // A thread keeps 20 generations.
  for (let count = 0; count < 20; count++) {
    const other = await containedOf(evaluators, [evaluated('$string(a)')])
    assert.equal(messageOf(await other.resolve(requestOf({ a: count }, { sender: 'a' }))), `${count}`)
  }
  resolve()
  assert.deepEqual(messagesOf(await slow), ['first', 'second'])
})

test('a refusal or an error of a transform comes back from a thread as it would here', async (context) => {
  const place = { file: '/t/a.ts', line: 3, column: 1, text: '' }
  const cause = new Error('no title')
  const refusal = { status: 422, message: 'no title' }
  const errors = [
    new TransformError('TRANSFORM_REFUSED', 'a.ts refused', { refusal }),
    new TransformError('TRANSFORM_FAILED', 'a.ts: no title', { place, cause }),
  ]
  const transforms = { 'a.ts': () => Promise.reject(errors.shift()) }
  const mapping = { vars: { n: '$reverse(list)[0]' }, message: 'x', transform: { module: 'a.ts' } }
  const snapshot = await containedOf(evaluatorsOf(context), [mapping], { transforms })
  const refused = await snapshot.resolve(requestOf({ list: [1] }))
  assert.partialDeepStrictEqual(refused, { code: 'TRANSFORM_REFUSED', ...refusal })
  const failed = await snapshot.resolve(requestOf({ list: [1] }))
  assert.ok('code' in failed && failed.outcome === 'failed')
  const found = `${failed.reason} ${(failed.cause as Error).message}`
  assert.match(found, /a\.ts: no title \(.*a\.ts:3:1\) no title$/)
})

test('a transform that breaks its contract rejects the request that called it, and the next one is answered', async (context) => {
  const evaluators = evaluatorsOf(context)
  const transforms = { 'a.ts': () => Promise.reject(new Error('not the error of a transform')) }
  const mapping = { vars: { n: '$reverse(list)[0]' }, message: 'x', transform: { module: 'a.ts' } }
  const snapshot = await containedOf(evaluators, [mapping], { transforms })
  await assert.rejects(async () => snapshot.resolve(requestOf({ list: [1] })), /not the error of a transform/)
  const next = await containedOf(evaluators, [evaluated('$reverse([1, 3])[0]')])
  assert.equal(messageOf(await next.resolve(requestOf({}))), '3')
})

test('a request whose mappings end the thread that loads them is not tried again', async (context) => {
  const evaluators = evaluatorsOf(context)
  const snapshot = await containedOf(evaluators, [evaluated('$reverse([1, n])[0]')])
  assert.equal(messageOf(await snapshot.resolve(requestOf({ n: 2 }))), '2')
  let loads = 0
  const settings = () => {
    loads += 1
    return {} as SettingsContent
  }
  const generation = { id: -1, programs: [], settings, mapping: () => assert.fail('it has no mapping') }
  const job = { generation, request: requestOf({}), found: [], covering: 0, calls: [] }
  await assert.rejects(evaluators.run(job), /ended before it read the body/)
  assert.equal(loads, 1)
})

test('a request whose thread is ended is refused, and the refusal names the mapping that was tried', async (context) => {
  const snapshot = await containedOf(evaluatorsOf(context), [
    { id: 'a', match: { when: '$reverse(list)[0] > 1' }, message: 'x' },
    { id: 'b', match: { when: '$count($distinct(list)) = 200000' }, message: 'x' },
    { id: 'c', match: { when: '$reverse(list)[0] > 0' }, message: 'the last' },
  ])
  const decision = await snapshot.resolve(requestOf({ list: [...manyNumbers, 1] }))
  const message = 'mapping "b": the request exceeds the limit of time or memory'
  assert.partialDeepStrictEqual(decision, { code: 'TOO_LARGE_RENDERED', mapping: 'b', message })
  assert.equal(messageOf(await snapshot.resolve(requestOf({ list: [1] }))), 'the last')
})

test('a request whose thread grows too large is refused, and the next one is answered', async (context) => {
  const evaluators = evaluatorsOf(context)
  const large = '$count($map([1..10000], function($n) { $map([1..10000], function($m) { [$n, $m] }) }))'
  const snapshot = await containedOf(evaluators, [evaluated(large)])
  // The expression may notice first that it takes too long.
  assert.match(
    codeOf(await snapshot.resolve(requestOf({}))),
    /^refused (TOO_LARGE_RENDERED|EXPRESSION_FAILED)$/,
  )
  const next = await containedOf(evaluators, [evaluated('$reverse([1, 3])[0]')])
  assert.equal(messageOf(await next.resolve(requestOf({}))), '3')
})

test('what an expression makes enormous out of little is rendered or refused, and the main loop is not held', async (context) => {
  const evaluators = evaluatorsOf(context)
  const sources =
    `$reduce([1..60], function($x, $i) { {"l": $x, "r": $x} }, {"l": 1}) ¦ [1..10000].{"x": $$.a} ¦ [1..9007199254740991] ¦
    $length($reduce([1..60], function($x, $i) { $x & $x }, "aaaaaaaa")) ¦ $pad("x", 1e15) ¦ $formatBase(1e300, 2) & $join([a, a], a) ¦
    $match(a, /(?:a[ab]{30}|b[ab]{25}){3}c/) ¦ $split(a, "") ¦ ** ¦ $boolean([1..10000].[$$.a])`.split(
      / ¦\s+/,
    )
  const mappings = sources.map((source, n) => ({ id: `m${n}`, match: { body: { n } }, ...evaluated(source) }))
  const snapshot = await containedOf(evaluators, mappings)
  for (const [n, source] of sources.entries()) {
    const request = requestOf({ n, a: 'ab'.repeat(50_000) })
    const { result, longest } = await watchEventLoop(() => snapshot.resolve(request))
    assert.match(
      codeOf(result),
      /^(accepted|refused (EXPRESSION_FAILED|TOO_LARGE_RENDERED|BLANK_TEXT))$/,
      source,
    )
    assert.ok(longest < 150, `${source} held it for ${longest} ms`)
  }
})

test('a request is refused for now if the machine does not let its thread run', async (context) => {
  const timers = createManualTimers()
  const evaluators = createEvaluators({ timers })
  context.after(() => evaluators.close())
  const snapshot = await containedOf(evaluators, [evaluated('$reverse([1, 3])[0]')])
  const starved = snapshot.resolve(requestOf({}))
  // The thread cannot have started before this function returns.
  for (let checks = 0; checks <= 30_000 / checkMs; checks++) timers.fire(checkMs)
  assert.match(codeOf(await starved), / BACKLOG$/)
  assert.equal(messageOf(await snapshot.resolve(requestOf({}))), '3')
})

test('a thread is late by its processor time, counted from when each piece of work was first seen', () => {
  const shared = new Int32Array(2)
  const { waiting, resolving, loading } = phases
  const seen: unknown[] = []
  const deadline = createDeadline(shared, 0)
  for (const [phase, work, usedMs] of [
    [resolving, 1, 100],
    [resolving, 1, 1_600],
    [resolving, 2, 1_601],
    [waiting, 2, 9_000],
    [resolving, 2, 10_000],
    [loading, 2, 90_000],
    [resolving, 3, 90_001],
    [resolving, 3, 91_502],
  ] as const) {
    Atomics.store(shared, slots.phase, phase)
    Atomics.store(shared, slots.work, work)
    seen.push(deadline(), deadline(usedMs))
  }
  assert.deepEqual(seen, [...Array(15).fill(undefined), 'processor'])
})

test('a thread that works on one thing is given up by the clock after 30 s, and not before', () => {
  const shared = new Int32Array(2)
  Atomics.store(shared, slots.phase, phases.resolving)
  const deadline = createDeadline(shared, 0)
  const seen = Array.from({ length: 30_000 / checkMs + 1 }, () => deadline())
  assert.equal(seen.indexOf('clock'), 30_000 / checkMs)
})

test('a request that a stopping gateway gives up may be sent again', async (context) => {
  const evaluators = evaluatorsOf(context)
  const snapshot = await containedOf(evaluators, [evaluated('$reverse([1, 3])[0]')])
  const requests = ['a', 'a', 'b'].map((sender) => snapshot.resolve(requestOf({}, { sender })))
  await evaluators.close()
  for (const decision of await Promise.all(requests)) assert.match(codeOf(decision), / BACKLOG$/)
})

test('one sender never holds all threads, and a request that waits too long is answered', async (context) => {
  const timers = createManualTimers()
  const evaluators = createEvaluators({ timers })
  context.after(() => evaluators.close())
  const snapshot = await containedOf(evaluators, [
    { id: 'slow', match: { body: { slow: true } }, message: '{% $count($distinct(list)) %}' },
    evaluated('$reverse([1, 3])[0]'),
  ])
  const hostile = requestOf({ slow: true, list: manyNumbers }, { sender: 'a' })
  const flood = Array.from({ length: 3 }, () => snapshot.resolve(hostile))
  assert.equal(messageOf(await snapshot.resolve(requestOf({}, { sender: 'b' }))), '3')
  timers.fire(10_000)
  for (const decision of await Promise.all(flood.slice(1))) assert.match(codeOf(decision), / BACKLOG$/)
})

test('a sender may send a burst, of which at most a thousand requests wait', async (context) => {
  const evaluators = evaluatorsOf(context)
  const snapshot = await containedOf(evaluators, [evaluated('$reverse([1, n])[0]')])
  const burst = Array.from({ length: 1_010 }, (_, n) => snapshot.resolve(requestOf({ n }, { sender: 'a' })))
  const decisions = await Promise.all(burst)
  assert.equal(decisions.filter((decision) => codeOf(decision).endsWith(' BACKLOG')).length, 9)
  assert.equal(messageOf(decisions[7] as Decision), '7')
})
