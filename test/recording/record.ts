/**
 * Records what a checkout of Reveille does, seen from outside: one line for each fact, `key`, a tab and JSON. A rebuilt room has to give
 * the recording that the old one gave, but for differences that somebody wanted; README.md says how they are accepted.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { recordedSenders } from '../sample-data.ts'
import { recordDecisions, recordDryRuns, recordTries } from './decisions.ts'
import { recordLint, recordMistakes } from './mistakes.ts'
import { type Fact, isInPart, type Recorder, startGateway } from './recorder.ts'
import { openScene, recordScene } from './scene.ts'
import { digestOf } from './steady.ts'
import { recordHelp, recordRoutes } from './surface.ts'

const root = join(import.meta.dirname, '../..')
export const recordingFile = join(import.meta.dirname, 'recorded.tsv')

export interface RecordOptions {
  /** The folder that is recorded. Default: this one. */
  readonly checkout?: string
  /** Keeps only facts whose key begins like that. Default: all. */
  readonly only?: string
  /** Keeps an eighth of what takes long. Default: false. */
  readonly inPart?: boolean
  /** Keeps texts where otherwise their digest is kept, which is for looking only. Default: false. */
  readonly whole?: boolean
}

/** Every fact by its key, as JSON. @throws Error if its gateway does not start, or what was begun does not end within 30 s */
export async function record({
  checkout = root,
  only = '',
  inPart = false,
  whole = false,
}: RecordOptions = {}): Promise<Map<string, string>> {
  const recorder: Recorder = {
    checkout: resolve(checkout),
    wants: (key) => (key.startsWith(only) || only.startsWith(key)) && (!inPart || isInPart(key)),
    brief: whole ? (value) => value : digestOf,
  }
  const facts = new Map<string, string>()
  const wantsAny = (...kinds: string[]) =>
    kinds.some((kind) => kind.startsWith(only) || only.startsWith(kind))
  const keep = async (recorded: AsyncIterable<Fact>) => {
    for await (const { key, value } of recorded)
      if (key.startsWith(only)) facts.set(key, JSON.stringify(value))
  }
  await Promise.all([
    wantsAny('scene', 'vendor', 'log', 'metric', 'command', 'route', 'decision', 'dry run') &&
      keep(recordGateway(recorder)),
    keep(recordCommandLine(recorder, wantsAny)),
  ])
  return facts
}

async function* recordGateway(recorder: Recorder): AsyncGenerator<Fact> {
  const scene = await openScene()
  const gateway = await startGateway(recorder, scene.configure)
  try {
    yield* recordScene(recorder, gateway, scene)
    yield* recordRoutes(gateway.call)
    yield* recordDryRuns(recorder, gateway.call)
    yield* recordDecisions(recorder, gateway.call)
  } finally {
    await gateway.close()
    await scene.close()
  }
}

async function* recordCommandLine(
  recorder: Recorder,
  wantsAny: (...kinds: string[]) => boolean,
): AsyncGenerator<Fact> {
  if (wantsAny('help')) yield* recordHelp(recorder)
  if (wantsAny('lint')) yield* recordLint(recorder)
  if (wantsAny('mistake')) yield* recordMistakes(recorder)
  if (wantsAny('command')) yield* recordTries(recorder)
}

/** Reads the recording that is accepted. */
export async function readRecording({ inPart = false }: RecordOptions = {}): Promise<Map<string, string>> {
  const lines = (await readFile(recordingFile, 'utf8')).split('\n').filter((line) => line !== '')
  const facts = lines.map((line) => line.split('\t') as [string, string])
  return new Map(facts.filter(([key]) => !inPart || isInPart(key)))
}

/** Records, and fails with every difference from what is accepted. */
export async function replay(options: RecordOptions): Promise<void> {
  const different = differences(await readRecording(options), await record(options))
  if (different.length === 0) return
  const accept = 'Where all of them are wanted, `node test/recording/record.ts --write` accepts them.'
  throw new Error(`${different.length} facts are not as recorded.\n\n${different.join('\n\n')}\n\n${accept}`)
}

/** Describes each fact that is not as accepted. Facts that need the folder of real bodies are left out where that is absent. */
export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const hasBodies = recordedSenders() !== undefined
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key) !== after.get(key))
    .filter((key) => hasBodies || !/^decision (?!github )/.test(key))
    .sort()
    .map((key) => `${key}\n${changedPart(before.get(key), after.get(key))}`)
}

/** The lines of a fact that differ, with some around them. */
function changedPart(before: string | undefined, after: string | undefined): string {
  if (before === undefined) return `  + ${shortened(after)}`
  if (after === undefined) return `  - ${shortened(before)}`
  const [old, now] = [linesOf(before), linesOf(after)]
  const start = old.findIndex((line, index) => line !== now[index])
  const first = start === -1 ? old.length : start
  let same = 0
  while (same < Math.min(old.length, now.length) - first && old.at(-1 - same) === now.at(-1 - same)) same += 1
  const context = old.slice(Math.max(0, first - 2), first).map((line) => `    ${shortened(line)}`)
  const gone = old.slice(first, old.length - same).map((line) => `  - ${shortened(line)}`)
  const come = now.slice(first, now.length - same).map((line) => `  + ${shortened(line)}`)
  return [...context, ...gone.slice(0, 20), ...come.slice(0, 20)].join('\n')
}

/** A fact as indented JSON with the line breaks of its texts. */
function linesOf(json: string): string[] {
  return JSON.stringify(JSON.parse(json), null, 1).replaceAll('\\n', '\n').split('\n')
}

function shortened(text = ''): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      of: { type: 'string', default: root },
      only: { type: 'string', default: '' },
      whole: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  })
  const { of: checkout, only, whole } = values
  const facts = await record({ checkout, only, whole })
  if (!values.write) return void process.stdout.write(written(facts))
  const kept = [...(await readRecording())].filter(([key]) => !key.startsWith(only))
  await writeFile(recordingFile, written(new Map([...kept, ...facts])))
}

function written(facts: ReadonlyMap<string, string>): string {
  return [...facts]
    .map(([key, json]) => `${key}\t${json}\n`)
    .sort()
    .join('')
}

if (import.meta.main) await main()
