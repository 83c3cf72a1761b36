/**
 * Runs one measured gateway in its own process. It serves real files and, at each message, edits one as an author would and reports how long it
 * took to go live and how long it held the event loop.
 */

import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { createGateway } from '../../runtime/index.ts'
import type { Edit, ReloadCase } from './reload.ts'

/** The work that a reload leaves behind counts as well. */
const settlingMs = 150
const maxMs = 60_000
const resolutionMs = 1

const { mappings, perFile, edited } = JSON.parse(process.argv[2] ?? '{}') as ReloadCase

const folder = await realpath(await mkdtemp(join(tmpdir(), 'reveille-bench-reload-')))
let onLine: (event: LogLine) => void = () => {}
for (const [name, content] of filesOf(0)) await writeNew(join(folder, name), content)
const started = performance.now()
const gateway = await createGateway({
  configFile: join(folder, 'reveille.yaml'),
  env: {},
  logStream: { write: (line) => onLine(JSON.parse(line)) },
})
const startMs = performance.now() - started
let edits = 0
process.on('message', async () => {
  // The interval avoids the rhythm of the gateway's own timers.
  await pause(settlingMs + ((edits * 37) % 100))
  process.send?.({ startMs, ...(await measureEdit(++edits)) } satisfies Edit)
})
process.once('disconnect', async () => {
  await gateway.close({ graceMs: 0 })
  await rm(folder, { recursive: true, force: true })
})

async function measureEdit(edit: number): Promise<Omit<Edit, 'startMs'>> {
  const [name, content] = editOf(edit)
  const live = Promise.withResolvers<{ at: number; tookMs: number }>()
  const late = setTimeout(() => live.reject(new Error(`edit ${edit} did not go live`)), maxMs)
  onLine = (line) => {
    if (line.event === 'snapshot-swapped') live.resolve({ at: performance.now(), tookMs: line.tookMs })
    else if (line.event === 'candidate-rejected') live.reject(new Error(JSON.stringify(line)))
  }
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const saved = performance.now()
  writeFileSync(join(folder, name), content)
  const { at, tookMs } = await live.promise
  clearTimeout(late)
  await pause(settlingMs)
  delay.disable()
  return { savedMs: at - saved, reloadMs: tookMs, heldMs: Math.max(0, delay.max / 1e6 - resolutionMs) }
}

interface LogLine {
  readonly event: string
  readonly tookMs: number
}

/** Returns all files by name. `edit` is the number of edits so far. */
function filesOf(edit: number): readonly (readonly [string, string])[] {
  const files = Array.from({ length: Math.ceil(mappings / perFile) }, (_, file) => mappingFile(file, edit))
  const settings = `gateway: { port: 0, log: { level: info, format: json } }
hooks: { enabled: true, token: bench-hook-token-0123456789abcdef }
channels: { terminal: {} }
`
  return [['reveille.yaml', settings], ['transforms/review.ts', transformFile(edit)], ...files]
}

/** Returns the file that an edit changes: another one each time if there are several. */
function editOf(edit: number): readonly [string, string] {
  if (edited === 'transform') return ['transforms/review.ts', transformFile(edit)]
  return mappingFile((edit * 7) % Math.ceil(mappings / perFile), edit)
}

function mappingFile(file: number, edit: number): readonly [string, string] {
  const first = file * perFile
  const count = Math.min(perFile, mappings - first)
  const items = Array.from({ length: count }, (_, index) =>
    mappingText(first + index, index === 0 ? edit : 0),
  )
  return [`mappings/team-${file % 20}/${file}.yaml`, `mappings:\n${items.join('')}`]
}

/** Every tenth mapping has a condition in JSONata, and the first one calls a transform. */
function mappingText(position: number, edit: number): string {
  const when = position % 10 === 9 ? `\n      when: pull_request.additions > ${position % 50}` : ''
  const transform = edited === 'transform' && position === 0 ? '\n    transform: { module: review.ts }' : ''
  return `  - id: mapping-${position}
    match:
      path: team-${position % 50}
      headers: { x-github-event: pull_request }
      body: { action: [opened, reopened], repository: { full_name: harbour-lights/repository-${position} } }${when}
    name: GitHub
    sessionKey: "hook:team-${position % 50}:pr:{{pull_request.id}}:{{number}}"
    message: "Review (${edit}) pull request {{number}} of repository-${position} by {{sender.login}}: {{pull_request.title}}"
    deliver: false${transform}
`
}

function transformFile(edit: number): string {
  return `import { defineTransform, prompt } from '@reveille/engine/transform'

export default defineTransform(({ payload }) => ({ message: prompt\`Review (${edit}) \${payload.pull_request.title}\` }))
`
}

async function writeNew(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}
