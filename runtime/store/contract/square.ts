/**
 * The contract of every two commands about one thing. Given at one moment over two connections they end as if one had been given after
 * the other, in one of the two orders: no third end is possible. Each end is taken from the same store, from the same two in turn.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Command, Effects, Entry, Id, NewAction, RunRecord, Store } from '../port.ts'
import type { ContractSubject } from './bench/bench.ts'
import { type HeldClaim, startManualWorker } from './bench/manual-worker.ts'
import { idOf } from './bench/samples.ts'
import { answers, inChunks, numbers, openScene, type Scene, until } from './bench/scene.ts'

/** One thing that commands are about. */
interface Thing {
  /** The commands, which return what they were answered, in short. */
  readonly commands: Readonly<Record<string, (store: Store) => Promise<unknown>>>
  /** Its visible state afterwards; `claims` is the total number of claims by task. */
  see(store: Store, claims: ReadonlyMap<string, number>): Promise<unknown>
  /** Ends what is still under way. */
  end?(): void
  /** Waits until all of its kind have ended. */
  close?(): Promise<void>
}

interface Kind {
  readonly name: string
  /** Commands of which only one can be given about one thing: a claim settles once. */
  readonly once?: readonly string[]
  /** The two answers to a command given twice, in any order. */
  readonly twice: Readonly<Record<string, readonly [unknown, unknown]>>
  /** There is only one of it, so that its pairs go one after the other. */
  readonly isAlone?: true
  make(scene: Scene, count: number): Promise<readonly Thing[]>
}

/** Two commands that were given about one thing of its own, and how that ended. */
interface Given {
  readonly pair: readonly [string, string]
  readonly isSerial: boolean
  readonly answers: unknown
  readonly seen: unknown
}

const error = { code: 'X', message: 'x', retryable: true }
const slack = { channel: 'slack', to: 'C1' }

/** A thing that has ended may be forgotten repeatedly. */
const forgotten = { forget: [['ok1'], ['ok1']] } as const

/** The visible state of a run. */
function factsOf(run: RunRecord | undefined, claims: ReadonlyMap<string, number>): unknown {
  if (run === undefined) return 'none'
  const { id, state, stage, cancelRequestedAt, forgottenAt, coalesce, retries = [], orders = [] } = run
  const facts = [run.error?.code, cancelRequestedAt, forgottenAt, coalesce?.count, run.joined?.length]
  const lists = [retries.map((retry) => retry.state), orders.map(({ order }) => order), run.prompt === '']
  return [state, stage, claims.get(id) ?? 0, facts, lists]
}

function commandsAbout(scene: Scene, { request, actions }: Entry): Thing['commands'] {
  const run = actions[0]?.record.id ?? ''
  const order = (command: object) => async (store: Store) =>
    answers([await store.command({ at: scene.now, by: 'an operator', ...command } as Command)])
  return {
    cancel: order({ type: 'cancel', run }),
    resume: order({ type: 'resume', run }),
    retry: order({ type: 'retry', run }),
    forget: order({ type: 'forget', requests: [request.id] }),
  }
}

function accepting(entryOf: () => Entry) {
  return async (store: Store) => {
    const entry = entryOf()
    const { actions } = await store.accept(entry)
    return actions.map(({ outcome }) => outcome)
  }
}

/** Accepts runs, and claims them. */
async function claimed(scene: Scene, entries: readonly Entry[]) {
  const worker = startManualWorker(scene.stores[0], ['run'], entries.length)
  for (const entry of entries) await scene.stores[0].accept(entry)
  const claims = new Map<Id, HeldClaim>()
  for (const _ of entries) {
    const claim = await worker.next()
    claims.set(claim.task.subject ?? '', claim)
  }
  await worker.resize(0)
  return { claims, worker }
}

/** Runs that have ended in a state, with the requests that brought them. */
function ended(state: 'parked' | 'failed'): Kind {
  return {
    name: `a run that is ${state}`,
    twice: { ...forgotten, [state === 'parked' ? 'resume' : 'retry']: [['ok'], ['state']] },
    async make(scene, count) {
      const entries = numbers(count).map(() => scene.entry(scene.runAction()))
      const { claims, worker } = await claimed(scene, entries)
      for (const [id, claim] of claims) claim.done({ run: { id, state, error } })
      await worker.drain(10_000)
      return entries.map((entry) => ({
        commands: commandsAbout(scene, entry),
        see: async (store, claims) =>
          factsOf(await store.read.run(entry.actions[0]?.record.id ?? ''), claims),
      }))
    },
  }
}

const kinds: readonly Kind[] = [
  {
    name: 'what is new',
    twice: {
      'accept one entry': [
        ['accepted', 'accepted'],
        ['accepted', 'accepted'],
      ],
      'accept with a key': [['accepted'], ['duplicate']],
      'accept what may join': [['accepted'], ['joined']],
      'accept unless it is busy': [['accepted'], ['busy']],
      send: [['ok'], ['ok']],
      'begin a job': [['ok0'], ['ok4']],
    },
    async make(scene, count) {
      return numbers(count).map((): Thing => {
        const sessionKey = `new:${scene.bench.mintId()}`
        const dedupe = { scope: 's', key: sessionKey, until: scene.now + 60_000 }
        const whole = scene.entry(
          scene.runAction({ sessionKey }),
          scene.eventAction({ mode: 'next-heartbeat' }),
        )
        const { runId: _runId, ...delivery } = scene.delivery(slack)
        const task = scene.deliveryTask(delivery)
        const items = numbers(4).map(() => scene.bench.mintId())
        const jobOf = () => ({
          id: scene.bench.mintId(),
          filter: {},
          options: { key: sessionKey },
          createdAt: scene.now,
        })
        return {
          commands: {
            'accept one entry': accepting(() => whole),
            'accept with a key': accepting(() => scene.entry(scene.runAction({ sessionKey }, { dedupe }))),
            'accept what may join': accepting(() =>
              scene.entry(
                scene.coalescedAction({ key: sessionKey, keep: 'all', windowMs: 0 }, { sessionKey }),
              ),
            ),
            'accept unless it is busy': accepting(() =>
              scene.entry(scene.runAction({ sessionKey }, { busy: 'reject' })),
            ),
            send: async (store) => answers([await store.command({ type: 'send', delivery, task })]),
            'begin a job': async (store) =>
              answers([await store.command({ type: 'job-begin', job: jobOf(), items })]),
          },
          async see(store, claims) {
            const { items: runs } = await store.read.runs({ sessionKey })
            const facts = await Promise.all(
              runs.map(async ({ id }) => factsOf(await store.read.run(id), claims)),
            )
            const sent = (await store.read.delivery(delivery.id)) !== undefined
            return [facts.map((each) => JSON.stringify(each)).toSorted(), sent, claims.get(delivery.id)]
          },
        }
      })
    },
  },
  {
    name: 'a run that waits',
    twice: {
      // It is open.
      forget: [['ok0'], ['ok0']],
      cancel: [['ok'], ['state']],
      'come again': [['accepted'], ['accepted']],
      join: [['joined'], ['joined']],
      repeat: [['duplicate'], ['duplicate']],
    },
    async make(scene, count) {
      const things: Thing[] = []
      for (const _ of numbers(count)) {
        const sessionKey = `waits:${scene.bench.mintId()}`
        const dedupe = { scope: 's', key: sessionKey, until: scene.now + 60_000 }
        const coalescing = () => scene.coalescedAction({ key: sessionKey, windowMs: 0 }, { sessionKey })
        const entry = scene.entry({ ...coalescing(), dedupe } as NewAction)
        await scene.stores[0].accept(entry)
        things.push({
          commands: {
            ...commandsAbout(scene, entry),
            'come again': accepting(() => entry),
            join: accepting(() => scene.entry(coalescing())),
            repeat: accepting(() => scene.entry(scene.runAction({ sessionKey }, { dedupe }))),
            'be refused while it is busy': accepting(() =>
              scene.entry(scene.runAction({ sessionKey }, { busy: 'reject' })),
            ),
          },
          async see(store, claims) {
            const { items } = await store.read.runs({ sessionKey })
            const runs = await Promise.all(items.map(({ id }) => store.read.run(id)))
            return runs.map((run) => JSON.stringify(factsOf(run, claims))).toSorted()
          },
        })
      }
      return things
    },
  },
  {
    name: 'a run under way',
    twice: { cancel: [['ok'], ['ok']] },
    once: ['succeed', 'park', 'be tried again'],
    async make(scene, count) {
      const entries = numbers(count).map(() =>
        scene.entry(scene.runAction({ sessionKey: `way:${scene.bench.mintId()}` })),
      )
      const { claims, worker } = await claimed(scene, entries)
      return entries.map((entry): Thing => {
        const [action] = entry.actions
        const id = action === undefined ? '' : idOf(action)
        const claim = claims.get(id) as HeldClaim
        const sessionKey = action?.type === 'run' ? action.record.sessionKey : ''
        const settle = (run: NonNullable<Effects['run']>, again?: number) => async (): Promise<unknown> => {
          const effects = { run: { ...run, warnings: ['settled'] } }
          claim.settle(again === undefined ? { done: true, effects } : { effects, again, counts: true })
          const isSettled = (found: RunRecord | undefined) => found?.warnings !== undefined
          await until(() => scene.stores[0].read.run(id), isSettled)
          return 'settled'
        }
        return {
          commands: {
            ...commandsAbout(scene, entry),
            check: async () => {
              const checked = claim.checkpoint({ run: { id, startedAt: scene.now } })
              return await checked.then(() => 'checked').catch(({ code }) => code)
            },
            succeed: settle({ id, state: 'succeeded', stage: 'delivered' }),
            park: settle({ id, state: 'parked', error }),
            'be tried again': settle({ id }, scene.now),
            'be refused while it is busy': accepting(() =>
              scene.entry(scene.runAction({ sessionKey }, { busy: 'reject' })),
            ),
          },
          async see(store, counts) {
            const { items } = await store.read.runs({ sessionKey })
            return items.map((run) => JSON.stringify(factsOf(run, counts))).toSorted()
          },
          end: () => claim.done(),
          close: () => worker.drain(30_000),
        }
      })
    },
  },
  ended('parked'),
  ended('failed'),
  {
    name: 'a delivery that is parked',
    twice: { replay: [['ok'], ['state']], 'send again': [['ok'], ['ok']] },
    async make(scene, count) {
      const entries = numbers(count).map(() => scene.entry(scene.runAction()))
      const { claims, worker } = await claimed(scene, entries)
      const deliveries = entries.map(({ actions }) => {
        const runId = actions[0]?.record.id ?? ''
        const parked = {
          ...scene.delivery({ runId, ...slack }),
          state: 'parked' as const,
          endedAt: scene.now,
        }
        const run = { id: runId, state: 'succeeded', stage: 'summarised', deliveryIds: [parked.id] } as const
        claims.get(runId)?.done({ run, deliveries: [parked] })
        return parked
      })
      await worker.drain(10_000)
      return entries.map((entry, index): Thing => {
        const delivery = deliveries[index] ?? scene.delivery()
        const task = scene.deliveryTask(delivery)
        const { cancel, retry, forget } = commandsAbout(scene, entry)
        const replay = (to: typeof slack) => async (store: Store) =>
          answers([
            await store.command({ type: 'replay-delivery', delivery: delivery.id, at: scene.now, to, task }),
          ])
        return {
          commands: {
            ...(cancel && { 'cancel its run': cancel }),
            ...(retry && { 'retry its run': retry }),
            ...(forget && { 'forget its request': forget }),
            replay: replay(slack),
            'replay to another place': replay({ channel: 'slack', to: 'C2' }),
            'send again': async (store) => answers([await store.command({ type: 'send', delivery, task })]),
          },
          async see(store, claims) {
            const found = await store.read.delivery(delivery.id)
            return [found?.state, found?.to, found?.text === '', claims.get(delivery.id) ?? 0]
          },
        }
      })
    },
  },
  {
    name: 'an event that waits',
    twice: forgotten,
    async make(scene, count) {
      const entries = numbers(count).map(() => scene.entry(scene.eventAction({ mode: 'next-heartbeat' })))
      for (const entry of entries) await scene.stores[0].accept(entry)
      return entries.map((entry): Thing => {
        const { forget } = commandsAbout(scene, entry)
        return {
          commands: { ...(forget && { forget }), 'come again': accepting(() => entry) },
          async see(store) {
            const event = await store.read.event(entry.actions[0]?.record.id ?? '')
            return [event?.state, event?.text]
          },
        }
      })
    },
  },
  {
    name: 'a replay job',
    twice: {
      cancel: [
        ['ok', null, true],
        ['state', null, true],
      ],
    },
    async make(scene, count) {
      const things: Thing[] = []
      for (const _ of numbers(count)) {
        const [id, ...items] = numbers(5).map(() => scene.bench.mintId()) as [Id, ...Id[]]
        const job = { id, filter: {}, options: { key: `job ${id}` }, createdAt: scene.now }
        const give = (command: object) => async (store: Store) => {
          const result = await store.command({ job: id, at: scene.now, ...command } as Command)
          return [...answers([result]), result.items?.length, result.job === undefined]
        }
        const mint = () => numbers(4).map(() => scene.bench.mintId())
        const next = (limit: number) => (store: Store) =>
          give({ type: 'job-next', limit, mint: mint() })(store)
        const settle = (state: string) =>
          give({ type: 'job-settle', items: [{ request: items[0] ?? '', state }] })
        await give({ type: 'job-begin', job, items })(scene.stores[0])
        await next(1)(scene.stores[0])
        things.push({
          commands: {
            'begin again': give({ type: 'job-begin', job, items }),
            'begin another with its key': (store) =>
              give({ type: 'job-begin', job: { ...job, id: scene.bench.mintId() }, items })(store),
            next: next(3),
            'settle as done': settle('done'),
            'settle as failed': settle('failed'),
            cancel: give({ type: 'job-cancel' }),
          },
          async see(store) {
            const { state, done, failed, skipped } = (await store.read.job(id)) ?? assert.fail()
            const listed = await store.read.jobItems(id)
            const replays = listed.items.map((item) => [item.state, item.replay !== undefined])
            return [state, done, failed, skipped, replays]
          },
        })
      }
      return things
    },
  },
  {
    name: 'an issue',
    twice: { resolve: [['ok1'], ['ok1']] },
    async make(scene, count) {
      const things: Thing[] = []
      for (const _ of numbers(count)) {
        const key = `CODE:${scene.bench.mintId()}`
        const events: Id[] = []
        const change = (fields: object) => async (store: Store) =>
          answers([
            await store.command({
              type: 'issues',
              at: scene.now,
              changes: [{ key, ...fields } as never],
            }),
          ])
        const shown = {
          code: 'C',
          severity: 'failing',
          subject: key,
          cause: 'c',
          next: { label: 'n' },
          count: 1,
        }
        const report = () => {
          const event = scene.event({ mode: 'next-heartbeat' })
          events.push(event.id)
          return { event, day: '2026-01-01' }
        }
        await change(shown)(scene.stores[0])
        things.push({
          commands: {
            'show again': change(shown),
            'show with its event': (store) => change({ ...shown, report: report() })(store),
            resolve: change({ resolve: true }),
            mute: change({ mute: null }),
            reopen: change({ reopen: true }),
            'note an alert': change({ alerted: ['webhook'] }),
          },
          async see(store) {
            const found = (await store.read.issue(key)) ?? assert.fail()
            const posted = await Promise.all(events.map((id) => store.read.event(id)))
            const { state, alerted, resolvedAt } = found
            return [state, found.count, alerted, resolvedAt, posted.filter((each) => each).length]
          },
        })
      }
      return things
    },
  },
  {
    name: 'a sign-in',
    twice: { end: [['ok'], ['ok']] },
    async make(scene, count) {
      return numbers(count).map((): Thing => {
        const signIn = scene.bench.mintId()
        const end = async (store: Store) =>
          answers([await store.command({ type: 'sign-out', signIn, until: scene.now })])
        return { commands: { end }, see: (store) => store.read.isSignedOut(signIn) }
      })
    },
  },
  {
    name: 'the route',
    twice: { set: [['ok'], ['ok']] },
    isAlone: true,
    async make(scene, count) {
      const give = (command: object) => async (store: Store) =>
        answers([await store.command(command as Command)])
      await give({ type: 'set-route', route: slack, by: 'an operator' })(scene.stores[0])
      const thing: Thing = {
        commands: {
          set: give({ type: 'set-route', route: slack, by: 'one' }),
          'set elsewhere': give({ type: 'set-route', route: { channel: 'terminal' }, by: 'two' }),
          offer: give({ type: 'offer-route', route: { channel: 'discord' } }),
        },
        see: (store) => store.read.route(),
      }
      return numbers(count).map(() => thing)
    },
  },
]

/** Every two of some commands, each with itself too. */
function pairsOf(names: readonly string[], once: readonly string[]): readonly (readonly [string, string])[] {
  return names.flatMap((one, index) =>
    names
      .slice(index)
      .filter((other) => !once.includes(one) || !once.includes(other))
      .map((other) => [one, other] as const),
  )
}

async function give(scene: Scene, thing: Thing, [one, other]: readonly [string, string], how: string) {
  const [first, second] = scene.stores
  const [giveOne, giveOther] = [thing.commands[one], thing.commands[other]]
  assert.ok(giveOne !== undefined && giveOther !== undefined)
  let found: unknown[]
  if (how === 'one first') found = [await giveOne(first), await giveOther(second)]
  else if (how === 'other first') found = [await giveOther(second), await giveOne(first)].toReversed()
  else found = await Promise.all([giveOne(first), giveOther(second)])
  return one === other ? found.map((each) => JSON.stringify(each)).toSorted() : found
}

export interface SquareOptions {
  /** Number of times that each pair is given at one moment. */
  readonly times: number
  /** Only these commands, each with itself, by kind. */
  readonly twice?: Readonly<Record<string, readonly string[]>>
}

export function squareContract(
  subject: ContractSubject,
  { times, twice }: SquareOptions = { times: 2 },
): void {
  describe(`${subject.name}: every two commands`, { concurrency: 1, timeout: 3_000_000 }, () => {
    for (const kind of kinds.filter(({ name }) => twice === undefined || name in twice))
      test(`about ${kind.name}, given at one moment, end as if one had been given first`, async (t) => {
        const scene = await openScene(t, subject)
        const [sample] = await kind.make(scene, 1)
        sample?.end?.()
        await sample?.close?.()
        const every = pairsOf(Object.keys(sample?.commands ?? {}), kind.once ?? [])
        const pairs = twice?.[kind.name]?.map((each) => [each, each] as const) ?? every
        const given = await giveAll(scene, kind, { pairs, times })
        checkEnds(kind, given)
      })
  })
}

async function giveAll(
  scene: Scene,
  { make, isAlone }: Kind,
  { pairs, times }: { readonly pairs: readonly (readonly [string, string])[]; readonly times: number },
): Promise<readonly Given[]> {
  const hows = ['one first', 'other first', ...numbers(times).map(() => 'at one moment')]
  const wanted = pairs.flatMap((pair) => hows.map((how) => ({ pair, how })))
  const things = await make(scene, wanted.length)
  const given: (Omit<Given, 'seen'> & { readonly thing: Thing; readonly seen?: unknown })[] = []
  await inChunks(wanted, isAlone ? 1 : 25, async ({ pair, how }, index) => {
    const thing = things[index] ?? assert.fail()
    const found = await give(scene, thing, pair, how)
    const seen = isAlone ? await thing.see(scene.stores[0], new Map()) : undefined
    thing.end?.()
    given.push({ pair, thing, isSerial: how !== 'at one moment', answers: found, seen })
  })
  await things[0]?.close?.()
  const claims = isAlone ? new Map() : await scene.claims(await openTasks(scene.stores[0]))
  const ended: Given[] = []
  for (const each of given)
    ended.push({ ...each, seen: each.seen ?? (await each.thing.see(scene.stores[0], claims)) })
  return ended
}

/** Checks that each end is one of those of the same two in turn. */
function checkEnds({ twice }: Kind, given: readonly Given[]): void {
  const ends = new Map<string, unknown[]>()
  for (const { pair, isSerial, answers: found, seen } of given) {
    if (!isSerial) continue
    const [one, other] = pair
    if (one === other && twice[one] !== undefined)
      assert.deepEqual(found, twice[one].map((each) => JSON.stringify(each)).toSorted(), `${one} twice`)
    ends.set(pair.join(' and '), [...(ends.get(pair.join(' and ')) ?? []), [found, seen]])
  }
  for (const { pair, isSerial, answers: found, seen } of given) {
    const known = ends.get(pair.join(' and ')) ?? []
    const message = `${pair.join(' and ')}: ${JSON.stringify([found, seen])} is none of ${JSON.stringify(known)}`
    if (!isSerial)
      assert.ok(
        known.some((each) => isDeepStrictEqual(each, [found, seen])),
        message,
      )
  }
}

/** Number of tasks left to be claimed. */
async function openTasks({ read }: Store): Promise<number> {
  const { queued, running } = await read.openRuns()
  const deliveries = await read.openDeliveries()
  return queued + running + deliveries.reduce((sum, { pending }) => sum + pending, 0)
}
