/** Changes the files of a gateway under load without pause, every second time for the worse. */

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setInterval } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Page, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createSender } from '../durability/sender.ts'
import { createFolder, gatewayToken, hookToken, until, writeInto } from '../installation.ts'

const gatewayProcess = fileURLToPath(new URL('./storm-gateway.ts', import.meta.url))
const everyMs = 100

/** The configuration and the transform carry a mark each, and one generation has one pair of marks. */
function configuration(mark: number): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks:
  enabled: true
  reload: { rest: 1ms }
  token: ${hookToken}
  mappings:
    - id: mapping-${mark}
      match: { path: build }
      name: name-${mark}
      message: "Build {{number}} of mark ${mark}"
      deliver: false
      wakeMode: next-heartbeat
      transform: { module: mark.ts }
agents: { defaults: { timeoutSeconds: ${1000 + mark} } }
`
}

function transform(mark: number): string {
  return `import { defineTransform } from '@reveille/engine/transform'
export default defineTransform(({ base, payload }) => ({
  message: \`\${base.message} by ${mark}\`,
  sessionKey: \`hook:${mark}:\${payload.number}\`,
}))
`
}

const failingTest = `tests:
  - name: what nobody says
    request: { endpoint: build, body: { number: 1 } }
    expect: { message: never }
`

const noTests = '# No tests.\n'

/** The edits in turn. A refused edit is followed by one that fixes it. */
const edits: readonly (readonly [file: string, content: (mark: number) => string])[] = [
  ['reveille.yaml', (mark) => configuration(mark).replace('{{number}}', '{{number')],
  ['reveille.yaml', configuration],
  ['transforms/mark.ts', (mark) => transform(mark).replace('export default', 'export default default')],
  ['transforms/mark.ts', transform],
  ['transforms/mark.ts', (mark) => `throw new Error('mark ${mark}')\n`],
  ['transforms/mark.ts', transform],
  ['mappings/tested.yaml', () => failingTest],
  ['mappings/tested.yaml', () => noTests],
]

interface Line {
  readonly event: string
  readonly [fact: string]: unknown
}

type StormGateway = Awaited<ReturnType<typeof startGateway>>

/** Starts the gateway in its own process, with valid files. */
async function startGateway(t: TestContext) {
  const folder = await createFolder(t, {
    'reveille.yaml': configuration(0),
    'transforms/mark.ts': transform(0),
    'mappings/tested.yaml': noTests,
  })
  const child = fork(gatewayProcess, [join(folder, 'reveille.yaml')], { execArgv: ['--expose-gc'] })
  const lines: Line[] = []
  const address = Promise.withResolvers<string>()
  let measured = Promise.withResolvers<number>()
  child.on('message', (message: { url?: string; line?: Line; memory?: number }) => {
    if (message.url) address.resolve(message.url)
    if (message.line) lines.push(message.line)
    if (message.memory !== undefined) measured.resolve(message.memory)
  })
  const exit = once(child, 'exit').then(() => {
    for (const waiting of [address, measured]) waiting.reject(new Error('the gateway ended'))
  })
  measured.promise.catch(() => {})
  atEnd(t, async () => {
    if (child.connected) child.send('stop')
    await exit
  })
  return {
    url: await address.promise,
    /** The log lines of an event so far. */
    lines: (event: string) => lines.filter((line) => line.event === event),
    /** Writes the edit with this number, from 0. */
    edit(number: number) {
      const [file, content] = edits[number % edits.length] as (typeof edits)[number]
      return writeInto(folder, file, content(number))
    },
    /** Returns the memory on the heap and beside it after a collection. Bytes. */
    memory() {
      measured = Promise.withResolvers()
      child.send('memory')
      return measured.promise
    },
  }
}

/** Returns the marks of a run: one of the configuration, one of the transform. */
function marksOf({ mapping, name, message, sessionKey, timeoutSeconds }: RunRecord): string {
  const text = /^Build \d+ of mark (\d+) by (\d+)$/.exec(message)
  const configured = [/^mapping-(\d+)$/.exec(String(mapping)), /^name-(\d+)$/.exec(String(name)), text]
  const marks = new Set([...configured.map((found) => Number(found?.[1])), timeoutSeconds - 1000])
  assert.equal(marks.size, 1, `one mark of the configuration in ${message}, ${mapping}, ${name}`)
  assert.equal(/^hook:(\d+):\d+$/.exec(sessionKey)?.[1], text?.[2], 'one mark of the transform')
  return `${text?.[1]} ${text?.[2]}`
}

async function* allRuns(url: string): AsyncIterable<RunRecord> {
  for (let cursor = ''; ; ) {
    const headers = { authorization: `Bearer ${gatewayToken}` }
    const answer = await fetch(`${url}/api/runs?kind=run&limit=500${cursor}`, { headers })
    const page = (await answer.json()) as Page<RunRecord>
    yield* page.items
    if (page.next === undefined) return
    cursor = `&cursor=${page.next}`
  }
}

function wentBothWays({ lines }: StormGateway): boolean {
  return lines('snapshot-swapped').length > 3 && lines('candidate-rejected').length > 3
}

/** `count` is the least number of edits, one every 100 ms. `connections` is the number of concurrent senders. */
export function testStorm(count: number, connections: number): void {
  test(`${count} good and bad edits, one every 100 ms, under load from ${connections} connections fail no request and mix no generations`, async (t) => {
    const gateway = await startGateway(t)
    let number = 0
    const next = () => {
      const body = { number: ++number }
      // Every second run begins under one generation and ends under the next.
      return { path: '/hooks/build', body, ...(number % 2 && { bodyAfter: everyMs }) }
    }
    const sender = createSender({ url: gateway.url, token: hookToken, connections, next })
    atEnd(t, () => sender.stop())
    await sender.answered()
    let edit = 0
    for await (const _tick of setInterval(everyMs)) {
      await gateway.edit(edit++)
      // The number of superseded edits depends on the machine, but some of each kind are not.
      if (edit >= 100 * count || (edit >= count && wentBothWays(gateway))) break
    }
    await sender.stop()
    assert.deepEqual(sender.unexpected, [])
    assert.equal(sender.broken(), 0, 'posts without an answer')

    const marks = new Map<number, string>()
    let runs = 0
    for await (const run of allRuns(gateway.url)) {
      runs++
      const known = marks.get(run.generation) ?? marksOf(run)
      marks.set(run.generation, known)
      assert.equal(marksOf(run), known, `generation ${run.generation}`)
    }
    assert.equal(runs, sender.acknowledged.length)
    const [swapped, rejected] = [gateway.lines('snapshot-swapped'), gateway.lines('candidate-rejected')]
    assert.ok(wentBothWays(gateway), `${swapped.length} generations, ${rejected.length} refusals`)
    t.diagnostic(`${runs} runs; ${swapped.length} generations went live, ${rejected.length} were refused`)
  })
}

/** `warmUp` is the number of reloads before the first measurement, and `reloads` the number between the two. */
export function testMemory(warmUp: number, reloads: number, maxGrownBytes: number): void {
  test(`the last of ${reloads} reloads holds no more memory than the first`, async (t) => {
    const gateway = await startGateway(t)
    const outcomes = () =>
      gateway.lines('snapshot-swapped').length + gateway.lines('candidate-rejected').length
    const reloadTo = async (count: number) => {
      for (let edit = 0; gateway.lines('snapshot-swapped').length < count; edit++) {
        const before = outcomes()
        await gateway.edit(edit)
        if (edit % edits.length >= edits.length - 2) continue
        await until(() => outcomes() > before || undefined, `what becomes of edit ${edit}`)
      }
    }
    await reloadTo(warmUp)
    const before = await gateway.memory()
    await reloadTo(warmUp + reloads)
    const grown = (await gateway.memory()) - before
    t.diagnostic(
      `${(before / 1e6).toFixed(1)} MB after ${warmUp} reloads, ${(grown / 1e6).toFixed(2)} MB more after ${reloads} others`,
    )
    assert.ok(grown < maxGrownBytes, `${grown} bytes`)
  })
}
