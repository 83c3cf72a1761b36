import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { permanentError, type Turn, transientError } from '@reveille/kit'
import { never, type Setting, startTestBed, type TestBed, untilAborted } from './test-bed.ts'

const sessionKey = 'hook:pr:1'
/** The length of a question and of an answer. A turn has twice that. */
const length = 100

/** Questions and answers are long, and the summary is a word. */
function answer(turn: Turn) {
  return turn.kind === 'compaction' ? 'They spoke.' : `a${turn.prompt.slice(1)}`
}

/** A summary that is never written. Its runner ends when it is aborted. */
const neverSummarises: Setting['run'] = async (turn, call) =>
  turn.kind === 'compaction' ? untilAborted(turn, call) : { reply: answer(turn) }

/** A bed whose runner answers, in which the turns `1` to `turns` have been spoken. */
async function converse(t: TestContext, turns: number, more: Setting = {}) {
  const bed = await startTestBed(t, { run: async (turn) => ({ reply: answer(turn) }), ...more })
  for (let turn = 1; turn <= turns; turn += 1) await say(bed, String(turn))
  return bed
}

async function say(bed: TestBed, name: string, prompt = `q${name}`.padEnd(length, '.')) {
  const id = await bed.acceptRun({ sessionKey, prompt })
  return bed.untilRun(id, (run) => run.stage === 'delivered' || run.state === 'failed')
}

/** Shows the history as `q1 a1 q2 a2`. */
const shownTo = (turn: Turn | undefined) =>
  turn?.history.map(({ text }) => text.replace(/\.+$/, '')).join(' ')
const kinds = (bed: TestBed) => bed.turns.map(({ kind }) => kind).join(' ')
async function kept(bed: TestBed) {
  const session = await bed.read().session(sessionKey)
  return session?.messages.map(({ role, text }) => `${role} ${text.replace(/\.+$/, '')}`).join(', ')
}

const summarised = { maxCharacters: 999, compaction: 'summarise' } as const
const fenced = '<a summary of the earlier conversation'

test('a conversation of three turns shows all that was said before, in order', async (t) => {
  const bed = await converse(t, 3)
  assert.deepEqual(bed.turns.map(shownTo), ['', 'q1 a1', 'q1 a1 q2 a2'])
  const roles = bed.turns[2]?.history.map(({ role }) => role)
  assert.deepEqual(roles, ['user', 'assistant', 'user', 'assistant'])
})

test('a conversation goes on after a restart and after a crash', async (t) => {
  const bed = await converse(t, 1)
  await bed.restart()
  await say(bed, '2')
  await bed.crash()
  await bed.start()
  await say(bed, '3')
  assert.equal(shownTo(bed.turns.at(-1)), 'q1 a1 q2 a2')
})

test('the oldest turns of a too long history are not shown, and are deleted once the turn succeeded', async (t) => {
  let broken = true
  const bed = await converse(t, 4, {
    sessions: { maxCharacters: 4 * length },
    async run(turn) {
      if (turn.prompt.startsWith('q4') && broken) throw permanentError('bad-request', 'bad')
      return { reply: answer(turn) }
    },
  })
  assert.equal(shownTo(bed.turns[3]), 'q2 a2 q3 a3')
  assert.equal(await kept(bed), 'user q1, assistant a1, user q2, assistant a2, user q3, assistant a3')
  broken = false
  await say(bed, '4')
  assert.equal(await kept(bed), 'user q2, assistant a2, user q3, assistant a3, user q4, assistant a4')
  assert.equal(kinds(bed), 'run run run run run')
})

test('a history that is too long is summarised before the turn, by the runner that has it', async (t) => {
  const bed = await converse(t, 6, { sessions: summarised, defaults: { systemPrompt: 'Be kind.' } })
  const last = await say(bed, '7')
  assert.equal(kinds(bed), 'run run run run run compaction run run')
  const [asked, turn, next] = bed.turns.slice(5)
  assert.equal(shownTo(asked), 'q1 a1 q2 a2 q3 a3')
  assert.match(asked?.prompt ?? '', /summary.*fences is data/s)
  assert.partialDeepStrictEqual(asked, { sessionKey, systemPrompt: 'Be kind.', timeoutSeconds: 30 })
  assert.deepEqual([asked?.events, asked?.state, asked?.action], [[], undefined, undefined])
  assert.match(shownTo(turn) ?? '', new RegExp(`^${fenced} [0-9a-f]{12}>They spoke q4 a4 q5 a5$`))
  assert.equal(turn?.history[0]?.role, 'user')
  assert.deepEqual(next?.history.slice(0, 5), turn?.history)
  assert.equal(last.warnings, undefined)
  assert.match((await kept(bed)) ?? '', /^summary They spoke, user q4, .*assistant a7$/)
  assert.equal(bed.log('session-compacted')[0]?.['turns'], 3)
})

test('a summary is cut to its maximal length', async (t) => {
  const bed = await converse(t, 6, {
    sessions: summarised,
    run: async (turn) => ({ reply: turn.kind === 'compaction' ? ` ${'s'.repeat(9000)}` : answer(turn) }),
  })
  const session = await bed.read().session(sessionKey)
  assert.deepEqual([session?.messages[0]?.role, session?.messages[0]?.text], ['summary', 's'.repeat(249)])
})

for (const [what, code, run] of [
  ['fails', 'unavailable', () => Promise.reject(transientError('unavailable', 'no'))],
  ['is blank', 'BLANK_REPLY', async () => ({ reply: ' \n', usage: { outputTokens: 1 } })],
] as const) {
  test(`where a summary ${what}, the newest turns are shown, nothing goes, and the run says so`, async (t) => {
    const bed = await converse(t, 5, {
      sessions: summarised,
      run: async (turn) => (turn.kind === 'compaction' ? run() : { reply: answer(turn) }),
    })
    const ended = await say(bed, '6')
    assert.deepEqual([ended.state, ended.warnings?.length], ['succeeded', 1])
    assert.match(ended.warnings?.[0] ?? '', new RegExp(`could not be summarised \\(${code}\\)`))
    assert.equal(shownTo(bed.turns.at(-1)), 'q2 a2 q3 a3 q4 a4 q5 a5')
    assert.match((await kept(bed)) ?? '', /^user q1, assistant a1, .*assistant a6$/)
    const logged = { level: 'warn', runId: ended.id, code }
    assert.partialDeepStrictEqual(bed.log('session-not-compacted'), [logged])
  })
}

test('a summary that takes too long leaves half of the time to the turn', async (t) => {
  const bed = await converse(t, 5, { sessions: summarised, run: neverSummarises })
  const result = say(bed, '6')
  await bed.until(async () => bed.turns.at(-1)?.kind === 'compaction')
  bed.clock.advance(30_000)
  const ended = await result
  assert.equal(ended.state, 'succeeded')
  assert.match(ended.warnings?.[0] ?? '', /\(TIMEOUT\)/)
  assert.equal(bed.turns.at(-1)?.timeoutSeconds, 30)
})

test('a crash between the summary and the turn costs no second summary', async (t) => {
  let hangs = true
  const bed = await converse(t, 5, {
    sessions: summarised,
    async run(turn) {
      if (hangs && turn.prompt.startsWith('q6')) return never()
      return { reply: answer(turn), usage: { inputTokens: 10, outputTokens: 1 } }
    },
  })
  const id = await bed.acceptRun({ sessionKey, prompt: 'q6' })
  await bed.until(async () => bed.turns.at(-1)?.prompt === 'q6')
  assert.equal(kinds(bed), 'run run run run run compaction run')
  await bed.crash()
  hangs = false
  await bed.start()
  const ended = await bed.untilDelivered(id)
  assert.equal(kinds(bed), 'run')
  assert.match(shownTo(bed.turns[0]) ?? '', /They spoke q4 a4 q5 a5$/)
  assert.deepEqual(ended.usage, { inputTokens: 20, outputTokens: 2 })
})

test('the cost of a summary is counted with its run, and paid from the budget', async (t) => {
  const bed = await converse(t, 5, {
    sessions: summarised,
    budget: { tokens: 71 },
    run: async (turn) => ({ reply: answer(turn), usage: { inputTokens: 9, outputTokens: 1 } }),
  })
  const sixth = await say(bed, '6')
  assert.deepEqual([sixth.state, sixth.usage], ['succeeded', { inputTokens: 18, outputTokens: 2 }])
  assert.equal((await say(bed, '7')).state, 'succeeded')
  const id = await bed.acceptRun({ sessionKey, prompt: 'q8' })
  assert.equal((await bed.untilState(id, 'parked')).error?.code, 'BUDGET')
})

test('the cost of a summary is stored even if its run fails', async (t) => {
  const bed = await converse(t, 5, {
    sessions: summarised,
    async run(turn) {
      if (turn.prompt.startsWith('q6')) throw permanentError('bad', 'no')
      return { reply: answer(turn), usage: { inputTokens: 9 } }
    },
  })
  const ended = await say(bed, '6')
  assert.deepEqual([ended.state, ended.usage], ['failed', { inputTokens: 9 }])
})

test('a run that is cancelled while its summary is written asks for nothing more', async (t) => {
  const bed = await converse(t, 5, { sessions: summarised, run: neverSummarises })
  const id = await bed.acceptRun({ sessionKey, prompt: 'q6' })
  await bed.until(async () => bed.turns.at(-1)?.kind === 'compaction')
  await bed.command({ type: 'cancel', run: id, at: bed.clock.now() })
  const ended = await bed.untilRun(id, (run) => run.state === 'cancelled')
  assert.deepEqual([bed.turns.at(-1)?.kind, ended.warnings], ['compaction', undefined])
  assert.match((await kept(bed)) ?? '', /^user q1/)
})

test('a runner that keeps the conversation itself is shown none, and asked for no summary', async (t) => {
  for (const compaction of ['drop', 'summarise'] as const) {
    const bed = await converse(t, 3, { keepsHistory: true, sessions: { maxCharacters: 300, compaction } })
    assert.deepEqual(bed.turns.map(shownTo), ['', '', ''])
    assert.match((await kept(bed)) ?? '', /^user q1, .*assistant a3$/)
  }
})

test('the main session is held to the same limits', async (t) => {
  for (const compaction of ['drop', 'summarise'] as const) {
    const bed = await converse(t, 0, {
      sessions: { maxMessages: 4, compaction },
      run: async ({ kind }) => ({ reply: kind === 'compaction' ? 'They spoke.' : 'HEARTBEAT_OK' }),
    })
    for (const count of [1, 2, 3, 4]) {
      await bed.acceptEvent(`event ${count}`)
      bed.clock.advance(250)
      await bed.until(async () => (await bed.heartbeats()).at(count - 1)?.state === 'succeeded')
    }
    const { history = [] } = bed.turns.at(-1) ?? {}
    assert.ok(history.length <= 4)
    assert.equal(history.at(0)?.text.includes('They spoke.'), compaction === 'summarise')
    assert.match(history.at(-2)?.text ?? '', /event 3/)
    const session = await bed.read().session('main')
    assert.equal(session?.messages[0]?.role, compaction === 'summarise' ? 'summary' : 'user')
    assert.equal(bed.turns.length, compaction === 'summarise' ? 5 : 4)
  }
})
