/** Records what is said of mistakes: a gateway is asked what it would do about a changed file, and `lint` about many at once. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inTransforms, sample, seeded, silent } from '../mistakes/seeded.ts'
import { settings } from '../mistakes/settings.ts'
import {
  type Call,
  type Fact,
  type Files,
  gatewayToken,
  type Recorder,
  runCommand,
  startGateway,
  withFolder,
  writeFiles,
} from './recorder.ts'
import { type Json, steadyText } from './steady.ts'

const good = 'hooks: { enabled: true, token: 6c1f0a52d98b4e7f93a1c6d0be5a4f27 }\n'

interface Mistake {
  readonly name: string
  readonly files: Files
  /** The code of what is reported; `ok` where nothing is. */
  readonly code: string
}

/** Yields the diagnostics of each mistake, as a dry reload answers them. */
export async function* recordMistakes(recorder: Recorder): AsyncGenerator<Fact> {
  const configure = (port: number) => ({
    gateway: { port, auth: { token: gatewayToken }, log: { format: 'json' } },
    hooks: { enabled: true, token: '6c1f0a52d98b4e7f93a1c6d0be5a4f27' },
  })
  const gateway = await startGateway(recorder, configure)
  try {
    for (const { name, files } of mistakes()) {
      const key = `mistake ${name}`
      if (!recorder.wants(key)) continue
      await writeFiles(gateway.home, { 'reveille.yaml': good, ...files })
      yield { key, value: await judge(gateway.call, gateway.home) }
      for (const file of Object.keys(files)) await rm(join(gateway.home, file))
    }
  } finally {
    await gateway.close()
  }
}

async function judge(call: Call, home: string): Promise<unknown> {
  const { status, body } = await call('POST', '/api/reload?dryRun=true')
  const { outcome, diagnostics = [], ...rest } = ((body as Json)['reload'] ?? body) as Json
  if (status >= 500) return { status, ...rest }
  return { status, outcome, diagnostics: (diagnostics as Json[]).map((each) => printed(each, home)) }
}

/** Yields what `lint` says of the mappings that load, all in one folder. */
export async function* recordLint(recorder: Recorder): AsyncGenerator<Fact> {
  if (!recorder.wants('lint')) return
  const rows = seeded.filter(([, code]) => foundByLint.has(code)).map(([lines]) => lines)
  const files = Object.fromEntries(
    rows.map((lines, row) => [`mappings/m${row}.yaml`, mappingFile(lines, `m${row}`)]),
  )
  yield* await withFolder({ 'reveille.yaml': good, ...files }, async (cwd) => {
    const { out } = await runCommand(recorder, ['lint', '--json'], { cwd })
    const findings = Map.groupBy(diagnosticsOf(JSON.parse(out)), (each) => fileOf(each))
    return rows.map((lines, row) => ({
      key: `lint ${oneLine(lines)}`,
      value: (findings.get(`m${row}.yaml`) ?? []).map((each) =>
        printed(each, '<folder>')
          .replaceAll(`m${row}.yaml`, 'a.yaml')
          .replaceAll(`"m${row}"`, '"a"')
          .replaceAll(`/m${row}`, '/a'),
      ),
    }))
  })
}

const foundByLint = new Set([
  ...['UNKNOWN_FIELD', 'LIST_FIELD', 'OTHER_PAYLOAD', 'CONDITION_VALUE', 'LITERAL_REFERENCE'],
  ...[
    'LITERAL_TEXT',
    'LITERAL_KEY',
    'SHARED_SESSION',
    'SHARED_DEDUPE_KEY',
    'POINTLESS_CONTINUE',
    'UNUSED_ELEMENT',
  ],
  ...['UNFILTERED_ELEMENTS', 'LITERAL_NUMBER', 'DOUBTFUL_EXPRESSION', 'PARTIAL_EXPRESSION', 'TEST_FAILED'],
])

export function* mistakes(): Generator<Mistake> {
  for (const [lines, code] of [...seeded, ...silent.map(([lines]) => [lines, 'ok'] as const)])
    yield { name: `mapping ${oneLine(lines)}`, code, files: { 'mappings/a.yaml': mappingFile(lines, 'a') } }
  for (const [source, code] of inTransforms)
    yield {
      name: `transform ${oneLine(source)}`,
      code,
      files: {
        'transforms/a.ts': source,
        'mappings/a.yaml': mappingFile('message: "{{title}}"\ntransform: { module: a.ts }', 'a'),
      },
    }
  for (const { name, files, code } of settings) yield { name: `setting ${name}`, code, files }
}

function mappingFile(lines: string, endpoint: string): string {
  const whole = /(^|\n)match:/.test(lines) ? lines : `match: { path: a }\n${lines}`
  const indented = whole.replaceAll(/path: a(?=[ ,])/g, `path: ${endpoint}`).replaceAll(/^/gm, '    ')
  return `mappings:\n  - id: ${endpoint}\n${indented}\ntests:
  - { name: t, request: { endpoint: ${endpoint}, body: ${sample} }, expect: { mapping: ${endpoint} } }\n`
}

const oneLine = (text: string) => text.replaceAll(/\s*\n/g, ' ⏎ ').replaceAll('\t', '⇥')

function diagnosticsOf(answer: Json): Json[] {
  return (answer['diagnostics'] ?? answer['findings'] ?? []) as Json[]
}

const fileOf = (diagnostic: Json) =>
  `${(diagnostic['place'] as Json | undefined)?.['file'] ?? ''}`.split('/').at(-1) ?? ''

/** A diagnostic as a person reads it: where, what, and what to write. */
function printed({ severity, code, message, hint, place }: Json, home: string): string {
  const { file = '', line = '', column = '' } = (place ?? {}) as Json
  const where = place === undefined ? '' : `${file}:${line}:${column}: `
  const fix = hint === undefined ? '' : `\nhint: ${hint}`
  return steadyText(`${where}${severity}: ${message} [${code}]${fix}`.replaceAll(`${home}/`, ''))
}
