/** Measures a reload from saving a file to serving it, and how long requests wait for an answer meanwhile. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BenchError, type Comparison, type Sample } from './measure.ts'
import { readApi, type Server, startGateway } from './server.ts'

interface ReloadCase {
  readonly mappings: number
  readonly perFile: number
  readonly edited: 'mapping' | 'transform'
}

const cases: Readonly<Record<string, ReloadCase>> = {
  'a mapping of 10': { mappings: 10, perFile: 10, edited: 'mapping' },
  'a mapping of 1,000': { mappings: 1_000, perFile: 20, edited: 'mapping' },
  'a mapping of 10,000': { mappings: 10_000, perFile: 20, edited: 'mapping' },
  'a mapping of 1,000 in one file': { mappings: 1_000, perFile: 1_000, edited: 'mapping' },
  'a transform, 10 mappings': { mappings: 10, perFile: 10, edited: 'transform' },
  'a transform, 1,000 mappings': { mappings: 1_000, perFile: 20, edited: 'transform' },
}
/** Edits before the first that counts. */
const warmUps = 3
/** The work that a reload leaves behind counts as well. */
const settlingMs = 150
const maxMs = 60_000

export const reloadComparison: Comparison = {
  name: 'reload',
  compared: 'savedMs',
  rounds: 10,
  variants: Object.entries(cases).map(([name, reloaded]) => ({ name, open: () => open(reloaded) })),
}

async function open(reloaded: ReloadCase) {
  const { mappings, perFile, edited } = reloaded
  const count = Math.ceil(mappings / perFile)
  const files = Array.from({ length: count }, (_, file) => mappingFile(reloaded, file, 0))
  const server = await startGateway({
    files: { ...Object.fromEntries(files), 'transforms/review.ts': transformFile(0) },
  })
  let edits = 0
  const take = async () => {
    edits += 1
    // The interval avoids the rhythm of the gateway's own timers.
    await pause(settlingMs + ((edits * 37) % 100))
    const [name, content] =
      edited === 'transform'
        ? ['transforms/review.ts', transformFile(edits)]
        : mappingFile(reloaded, (edits * 7) % count, edits)
    return measureEdit(server, join(server.home, name), content)
  }
  for (let warmUp = 0; warmUp < warmUps; warmUp++) await take()
  return { take, close: server.stop }
}

/** Saves a file and asks which generation is the newest, again and again, until the edit is live and its work is done. */
async function measureEdit(server: Server, file: string, content: string): Promise<Sample> {
  const newest = async () => {
    const { items } = await readApi<{ items: { generation: number }[] }>(server, 'generations?limit=1')
    return items[0]?.generation
  }
  const before = await newest()
  const saved = performance.now()
  writeFileSync(file, content)
  let liveAt = Number.POSITIVE_INFINITY
  let heldMs = 0
  for (let now = saved; now < liveAt + settlingMs; ) {
    if (now - saved > maxMs) throw new BenchError(`${file}: an edit did not go live`)
    const isLive = (await newest()) !== before
    const answered = performance.now()
    heldMs = Math.max(heldMs, answered - now)
    if (isLive) liveAt = Math.min(liveAt, answered)
    now = answered
  }
  return { savedMs: liveAt - saved, heldMs, readyMs: server.readyMs }
}

function mappingFile(reloaded: ReloadCase, file: number, edit: number): readonly [string, string] {
  const { mappings, perFile } = reloaded
  const first = file * perFile
  const items = Array.from({ length: Math.min(perFile, mappings - first) }, (_, index) =>
    mappingText(reloaded, first + index, index === 0 ? edit : 0),
  )
  return [`mappings/team-${file % 20}/${file}.yaml`, `mappings:\n${items.join('')}`]
}

/** Every tenth mapping has a condition in JSONata, and the first one may call a transform. */
function mappingText({ edited }: ReloadCase, position: number, edit: number): string {
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
