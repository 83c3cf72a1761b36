/** Tests that the words of docs/glossary.md are in use, and that words which they have replaced do not come back. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const exclude = (name: string) => name === 'node_modules'
const folders = ['engine', 'runtime', 'plugins', 'tools', 'test', 'console']
const files = folders
  .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx,js}`, { cwd: root, exclude }))
  .filter((file) => file !== 'test/glossary.test.ts')
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].filter(
  (page) => page !== 'docs/glossary.md',
)

/** Each retired word, or words in a row, with the words that replaced it. */
const retired: Readonly<Record<string, string>> = {
  ladder: 'pipeline',
  climb: 'handle',
  climbs: 'handle',
  rung: 'step',
  rungs: 'step',
  door: 'endpoint authentication',
  entrance: 'endpoint authentication',
  distrust: 'AuthFailure',
  'turn away': 'rejectUnauthenticated',
  honour: 'performHandshakeEffects',
  placing: 'insertion',
  'own post': 'internal request',
  'own words': 'sent messages',
  desk: 'WriterConnection',
  tally: 'counters',
  pulse: 'commit number',
  beat: 'countCommit; heartbeat',
  hire: 'register',
  hired: 'register',
  workforce: 'WorkerPool',
  founder: 'first run',
  hasten: 'expedite',
  rearm: 'reschedule',
  glance: 'readStoreSummary',
  joining: 'coalescing',
  'take turn': 'yieldIfDue',
  'next turn': 'yieldToEventLoop',
  'at pace': 'yieldIfDue',
  suspects: 'failures',
  era: 'configuration version',
  trouble: 'failure scope',
  complaint: 'ParkReason; violation',
  complaints: 'ParkReason; violations',
  patience: 'retry window; timeout',
  'let go': 'release',
  recall: 'session context; lookUp',
  recollection: 'session context',
  recollections: 'session context',
  stretch: 'chunk',
  stretches: 'chunks',
  surroundings: 'CompileContext',
  'serving memory': 'compile cache',
  told: 'logged; reported',
  tell: 'report',
  tells: 'reports',
  untold: 'suppressed',
  pictures: 'formats',
  weigh: 'estimateSize',
  shelf: 'bundle cache',
  'blank thread': 'warm spare',
  trial: 'dry run',
  survey: 'scan',
  stories: 'log messages',
  'stand in': 'fake server',
}

/** Names of types that stood for several things each; as parts of longer names these words are good. */
const retiredTypes = new Set([
  'Distrust',
  'Ending',
  'Exchange',
  'Found',
  'Hands',
  'Placed',
  'Proof',
  'Term',
  'Terms',
  'Trial',
])

/** Names that are part of an interface, with the files that know them: columns of the store, fields of the log, the API and commands. */
const interfaces: Readonly<Record<string, RegExp>> = {
  rearm_at: /^runtime\/store\/sqlite\//,
  standIn: /^runtime\/(api|cli)\//,
  told: /^(engine\/verify|runtime\/cli\/doctor|runtime\/store\/sqlite)\//,
  untold: /^runtime\/sources\//,
}

/** Identifiers that still hold a retired word. This list only becomes shorter. */
const stillUsed = new Set<string>([])

/** Texts, lines of comment, and regular expressions where one may stand. */
const textsAndComments =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|(?<=[(,=>:[!&|?]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//g

const identifiersByFile = new Map<string, ReadonlySet<string>>()

test('each word of the glossary is used on the pages or in the code', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  const words = [...glossary.matchAll(/^- \*\*([a-z ]+)\*\*: /gm)].map(([, word = '']) => word)
  assert.ok(words.length > 30)
  assert.equal(new Set(words).size, words.length, 'a word has two entries')
  const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
  const identifiers = new Set(files.flatMap((file) => [...identifiersOf(file)].flatMap(partsOf)))
  const isUsed = (word: string) => identifiers.has(word) || new RegExp(`\\b${word}s?\\b`, 'i').test(text)
  assert.deepEqual(
    words.filter((word) => !isUsed(word)),
    [],
  )
})

test('no name of a type, a function, a variable or a file holds a retired word', () => {
  assert.ok(files.length > 500)
  const found = files.flatMap((file) => {
    const names = [...identifiersOf(file), ...file.split(/[/.]/)]
    return names.flatMap((name) => {
      const word = retiredWordIn(name)
      if (word === undefined || interfaces[name]?.test(file) || stillUsed.has(name)) return []
      return [`${file}: ${name} (write: ${retired[word]})`]
    })
  })
  assert.deepEqual(found, [])
})

test('no type has a name that stood for several things', () => {
  const declared = files.flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8')
    const names = [...code.matchAll(/^(?:export )?(?:type|interface|class) (\w+)/gm)].map(
      ([, name = '']) => name,
    )
    return names.filter((name) => retiredTypes.has(name)).map((name) => `${file}: ${name}`)
  })
  assert.deepEqual(declared, [])
})

test('the list of retired words that are still used names only identifiers that exist', () => {
  const identifiers = new Set(files.flatMap((file) => [...identifiersOf(file)]))
  assert.deepEqual(
    [...stillUsed].filter((name) => !identifiers.has(name)),
    [],
    'remove these from `stillUsed`',
  )
})

test('a retired word is found in any part of a name, and in no other word', () => {
  assert.equal(retiredWordIn('readStandIn'), 'stand in')
  assert.equal(retiredWordIn('TOLD_TWICE'), 'told')
  assert.equal(retiredWordIn('door-bell'), 'door')
  assert.equal(retiredWordIn('outdoors'), undefined)
  assert.equal(retiredWordIn('understandIndex'), undefined)
})

function retiredWordIn(name: string): string | undefined {
  const parts = ` ${partsOf(name).join(' ')} `
  return Object.keys(retired).find((word) => parts.includes(` ${word} `))
}

/** Returns the words of a name in lower case: `readStoreSummary` -> `read`, `store`, `summary`. */
function partsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _$-]+/)
    .filter(Boolean)
}

/** Returns the names in a file, without comments and texts. Keys of objects and names of libraries are among them. */
function identifiersOf(file: string): ReadonlySet<string> {
  const known = identifiersByFile.get(file)
  if (known !== undefined) return known
  const code = readFileSync(join(root, file), 'utf8')
    .replace(/\/\*.*?\*\//gs, ' ')
    .replace(textsAndComments, ' ')
  const names = new Set(code.match(/[A-Za-z_$][\w$]*/g))
  identifiersByFile.set(file, names)
  return names
}
