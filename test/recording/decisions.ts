/** Records what becomes of real bodies, of the bodies in tests of presets and pages, and of each of them in a dry run. */

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { octokitSamples, recordedSamples, recordedSenders, type Sample } from '../sample-data.ts'
import { type Call, type Fact, type Recorder, runCommand, until, withFolder } from './recorder.ts'
import { type Json, steady, steadyText } from './steady.ts'

const root = join(import.meta.dirname, '../..')

/** Yields what a gateway with all presets does about every recorded body. */
export async function* recordDecisions({ wants, brief }: Recorder, call: Call): AsyncGenerator<Fact> {
  for (const { endpoint, sample } of realRequests()) {
    const key = `decision ${endpoint} ${sample.name}`
    if (!wants(key)) continue
    const reply = await call('POST', `/hooks/${endpoint}`, { headers: sample.headers, body: sample.body })
    const { requestId, runId, eventId: _, actions = [], ...rest } = reply.body as Json
    const runs = [runId, ...(actions as Json[]).map((action) => action['runId'])].filter(Boolean)
    const { outcome, reason, code, mapping } =
      reply.status === 404 ? ({} as Json) : await requestOf(call, requestId)
    const ended = await Promise.all(runs.map((id) => endedRun(call, `${id}`)))
    yield {
      key,
      value: {
        status: reply.status,
        reply: steady(rest),
        request: steady({ outcome, reason, code, mapping }),
        runs: ended.map(({ state, sessionKey, runner, model, name, message, reply: said }) => ({
          ...steady({ state, sessionKey, runner, model, name }),
          message: brief(steady(message)),
          prompt: brief(steady(said)),
        })),
      },
    }
  }
}

/** Yields dry runs of the requests in the tests of presets and of the examples on pages. */
export async function* recordDryRuns({ wants, brief }: Recorder, call: Call): AsyncGenerator<Fact> {
  for (const { name, request, mapping } of testRequests()) {
    const key = `dry run ${name}`
    if (!wants(key)) continue
    const { endpoint, body, headers = {}, query = {} } = request
    const payload = typeof body === 'string' ? body : JSON.stringify(body ?? {})
    const asked = { endpoint, payload, headers, query, ...(mapping === undefined ? {} : { mapping }) }
    const { status, body: answer } = await call('POST', '/api/try', { body: JSON.stringify(asked) })
    const { decision = {}, explanation = {}, ...rest } = answer as { decision?: Json; explanation?: Json }
    const { outcome, reason, code, mapping: decider } = decision
    const { candidates = [], actions = [] } = explanation as { candidates?: Json[]; actions?: Json[] }
    yield {
      key,
      value: {
        status,
        ...steady({ ...rest, outcome, reason, code, mapping: decider }),
        tried: brief(steady(candidates.map(({ place: _, ...candidate }) => candidate))),
        actions: actions.map((action) => {
          const { mapping: by, prompt, ...others } = steady(action)
          return { mapping: by, prompt: brief(prompt), others: brief(others) }
        }),
      },
    }
  }
}

/** Yields what `try` and `explain` print about some bodies. */
export async function* recordTries(recorder: Recorder): AsyncGenerator<Fact> {
  const config = { hooks: { enabled: true, token: 'hook-4fK29sLq0ZpVx81mWnB7', presets: ['github'] } }
  const files = { 'reveille.yaml': JSON.stringify(config) }
  const names = ['issues#0', 'pull_request_review#0', 'workflow_run#0', 'push#0']
  for (const sample of octokitSamples().filter(({ name }) => names.includes(name))) {
    for (const command of ['try', 'explain']) {
      for (const form of [[], ['--json']]) {
        const key = `command ${[command, 'github', sample.name, ...form].join(' ')}`
        if (!recorder.wants(key)) continue
        const given = Object.entries(sample.headers).flatMap(([name, value]) => [
          '--header',
          `${name}: ${value}`,
        ])
        const args = [command, 'github', '--payload', 'body.json', ...given, ...form]
        const { code, out, err } = await withFolder({ ...files, 'body.json': sample.body }, (cwd) =>
          runCommand(recorder, args, { cwd }),
        )
        yield { key, value: { code, out: steadyText(out), err: steadyText(err) } }
      }
    }
  }
}

function* realRequests(): Generator<{ endpoint: string; sample: Sample }> {
  for (const sample of octokitSamples()) yield { endpoint: 'github', sample }
  for (const sender of recordedSenders() ?? []) {
    const samples = recordedSamples(sender) ?? []
    for (const sample of samples) yield { endpoint: sender, sample }
    for (const sample of samples) yield { endpoint: 'generic', sample }
  }
}

interface TestRequest {
  readonly name: string
  readonly request: { endpoint: string; body?: unknown; headers?: object; query?: object }
  /** The text of the file that decides; undefined for the presets. */
  readonly mapping?: string
}

function* testRequests(): Generator<TestRequest> {
  for (const file of globSync('mappings/*.yaml', { cwd: root }).sort()) {
    yield* testsOf(basename(file, '.yaml'), readFileSync(join(root, file), 'utf8'))
  }
  for (const page of globSync('docs/**/*.md', { cwd: root }).sort()) {
    const text = readFileSync(join(root, page), 'utf8')
    const examples = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, example = '']) => example)
    const files = examples.filter((example) => /^mappings:/m.test(example) && /^tests:/m.test(example))
    for (const [index, mapping] of files.entries())
      for (const test of testsOf(`${page}#${index}`, mapping)) yield { ...test, mapping }
  }
}

function* testsOf(file: string, text: string): Generator<TestRequest> {
  const { tests = [] } = parse(text, { merge: true }) as { tests?: TestRequest[] }
  for (const { name, request } of tests) yield { name: `${file}: ${name}`, request }
}

async function requestOf(call: Call, id: unknown): Promise<Json> {
  if (typeof id !== 'string') return {}
  return await until(`request ${id}`, async () => {
    const { status, body } = await call('GET', `/api/requests/${id}`)
    return status === 200 ? (body as Json) : undefined
  })
}

/** Returns a run once its turn is over. */
export async function endedRun(call: Call, id: string): Promise<Json> {
  return await until(`the end of run ${id}`, async () => {
    const { body } = await call('GET', `/api/runs/${id}`)
    return ['queued', 'running'].includes(`${(body as Json)['state']}`) ? undefined : (body as Json)
  })
}
