/** Checks who may import whom. The rules keep the engine ignorant of its host, and plugins ignorant of the gateway. */

import { type Import, library } from './import-graph.ts'

const kit = 'plugins/kit/index.ts'
const kitEntryPoints = [kit, 'plugins/kit/markdown/index.ts', 'plugins/kit/fake-server/index.ts']
const engine = 'engine/index.ts'
const define = 'engine/transform/define.ts'
const records = 'runtime/store/records.ts'
const declaredRoutes = 'runtime/api/routes/'
const mappingsSchema = 'runtime/schemas/mappings.json'

interface Wall {
  /** The files inside the wall. */
  readonly around: RegExp
  /** Decides what else they may import. `own` is the file's match of `around`. */
  readonly allows: (to: string, own: string, isType: boolean) => boolean
  readonly rule: string
}

const walls: readonly Wall[] = [
  {
    around: /^plugins\/kit\//,
    allows: () => false,
    rule: 'plugins/kit imports no other package of this repository',
  },
  { around: /^engine\//, allows: () => false, rule: 'engine imports no other package of this repository' },
  {
    around: /^plugins\/[^/]+\//,
    allows: (to) => kitEntryPoints.includes(to),
    rule: 'a plugin imports only the kit',
  },
  {
    around: /^transforms\//,
    allows: (to) => to === define,
    rule: 'a transform imports only engine/transform/define',
  },
  {
    around: /^runtime\//,
    allows: (to) => to === kit || to === engine,
    rule: 'runtime imports only the index files of engine and kit',
  },
  {
    around: /^console\//,
    allows: (to, _own, isType) =>
      (isType && (to === records || to.startsWith(declaredRoutes))) || to === mappingsSchema,
    rule: 'console imports nothing of this repository but the types of what the API answers, and the schema that editors use',
  },
]

/** Libraries that one room alone imports; other rooms use that room. */
const keepers = [
  {
    of: /^(google-auth-library|gaxios|@googleapis\/.+)$/,
    room: 'plugins/gmail/google/',
    rule: 'plugins/gmail/google alone knows the libraries of Google',
  },
  {
    of: /^html-to-text$/,
    room: 'plugins/gmail/mail/html/',
    rule: 'plugins/gmail/mail/html alone knows who makes text of HTML',
  },
  {
    of: /^pg$/,
    room: 'plugins/postgres/',
    rule: 'plugins/postgres alone knows the client of PostgreSQL',
  },
] as const

/** The files of libraries, beside the main one, that their documentation tells users to import. */
const documentedPaths: readonly string[] = ['ajv/dist/2020.js', 'preact/hooks', 'tsx/esm/api']

/** What the files of one room must not reach, over however many files. */
const gaps = [
  {
    from: /^plugins\/gmail\/google\//,
    to: /^plugins\/gmail\/(mail|watch|connect)\//,
    rule: 'plugins/gmail/google asks Google, and knows nothing of those who have it asked',
  },
  {
    from: /^plugins\/gmail\/mail\//,
    to: /^plugins\/gmail\/(google\/(?!port\.ts)|watch\/|connect\/)/,
    rule: 'plugins/gmail/mail knows of Google only what a message looks like',
  },
  {
    from: /^plugins\/gmail\/watch\//,
    to: /^plugins\/gmail\/connect\//,
    rule: 'plugins/gmail/watch finds what setup has left, and not setup',
  },
  {
    from: /^runtime\/dispatch\//,
    to: /^runtime\/http\//,
    rule: 'runtime/dispatch knows nothing of who accepts: the store is the wall between accepting and doing',
  },
] as const

/**
 * The floors of each half, and of rooms that have rooms, from the lowest to the highest. A file imports files of its own room and of lower floors, types
 * included; rooms of one floor do not know each other. With them runtime/http never reaches runtime/dispatch: the store is
 * the wall between accepting and doing.
 */
export const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  engine: [
    ['timers.ts', 'yield.ts', 'boundary/', 'payload/', 'providers/'],
    ['threads/'],
    ['config/'],
    ['regex/', 'transform/', 'verify/'],
    ['resolve/'],
    ['compile/'],
    ['lint/', 'cases/', 'reload/', 'evaluator/'],
    ['index.ts'],
  ],
  'engine/config': [
    ['values/'],
    ['file/'],
    ['schema/'],
    ['rules/'],
    ['settings.ts'],
    ['configuration.ts'],
    ['items.ts', 'mapping-files.ts'],
    ['payload-schema.ts', 'presets.ts'],
    ['entries.ts'],
    ['tests.ts'],
    ['load.ts', 'pasted.ts', 'sample-edits.ts', 'folder-fixture.ts'],
    ['load-fixture.ts'],
  ],
  'engine/resolve': [
    ['model/'],
    ['admit/', 'match/', 'payload.ts', 'watch-event-loop.ts'],
    ['explain/', 'render/'],
    ['resolve.ts'],
    ['explain.ts'],
  ],
  'engine/compile': [
    ['expression/'],
    ['template/'],
    ['fields/'],
    ['match/', 'schema/'],
    ['policy/'],
    ['mapping.ts', 'resolving.ts', 'coverage.ts', 'snapshot.ts'],
    ['compiled-mappings.ts'],
    ['compile-steps.ts'],
    ['compile-snapshot.ts'],
    ['fixture.ts'],
    ['dedupe-fixture.ts'],
  ],
  runtime: [
    [
      'cut.ts',
      'exclusive-lock.ts',
      'once-for-each.ts',
      'package-folder.ts',
      'random-id.ts',
      'strike-out.ts',
      'write-whole.ts',
      'presets-folder.ts',
      'bin/',
    ],
    ['gateway-file.ts', 'transforms.ts', 'written-document.ts', 'scaffold/', 'store/'],
    ['agent/', 'generations/', 'guard/', 'observe/', 'plugin/'],
    ['session/'],
    ['http/'],
    ['dispatch/', 'reload/', 'replay/', 'sources/', 'trust/', 'tunnel.ts'],
    ['issues/'],
    ['api/'],
    ['gateway.ts'],
    ['cli/', 'index.ts'],
    ['main.ts'],
  ],
  console: [
    ['browser/', 'data/', 'style/', 'editor/', 'plot/'],
    ['parts/'],
    ['pages/'],
    ['app/'],
    ['main.tsx'],
  ],
}

/** Returns one sentence for each broken rule. Tests, what they test alike, and tools may import anything. */
export function findViolations(imports: readonly Import[]): string[] {
  const ours = imports.filter(({ from }) => !isFree(from))
  return [
    ...breaches(ours),
    ...leaks(ours),
    ...privatePaths(ours),
    ...crossings(ours),
    ...upwardImports(ours),
    ...circles(imports),
  ]
}

function isFree(file: string): boolean {
  return /(\.test|\.soak|-subject)\.ts$|^(test|tools)\//.test(file)
}

function breaches(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to, isType }) => {
    if (isFree(to)) return [`${from} imports ${to}: only tests and tools import tests and tools`]
    if (to.startsWith(library)) return []
    const wall = walls.find(({ around }) => around.test(from))
    const own = wall?.around.exec(from)?.[0]
    if (wall === undefined || own === undefined || to.startsWith(own) || wall.allows(to, own, isType))
      return []
    return [`${from} imports ${to}: ${wall.rule}`]
  })
}

function leaks(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to }) => {
    const name = to.startsWith(library) ? to.slice(library.length) : ''
    const keeper = keepers.find(({ of }) => of.test(name))
    if (keeper === undefined || from.startsWith(keeper.room)) return []
    return [`${from} imports ${to}: ${keeper.rule}`]
  })
}

function privatePaths(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to }) => {
    if (!to.startsWith(library)) return []
    const path = to.slice(library.length)
    const isMain = /^(@[^/]+\/)?[^/]+$/.test(path)
    if (isMain || documentedPaths.includes(path)) return []
    return [`${from} imports ${to}: a library is used by its public door`]
  })
}

function crossings(imports: readonly Import[]): string[] {
  const targets = groupTargets(imports)
  return gaps.flatMap(({ from, to, rule }) =>
    [...targets.keys()]
      .filter((file) => from.test(file))
      .flatMap((file) => {
        const way = findWay(targets, file, (reached) => to.test(reached))
        return way === undefined ? [] : [`${way.join(' -> ')}: ${rule}`]
      }),
  )
}

function upwardImports(imports: readonly Import[]): string[] {
  return Object.entries(floors).flatMap(([house, rooms]) => {
    const inside = imports.filter(
      ({ from, to }) => from.startsWith(`${house}/`) && to.startsWith(`${house}/`),
    )
    return inside.flatMap(({ from, to }) => {
      const [own, other] = [from, to].map((file) => findFloor(file.slice(house.length + 1), rooms))
      if (own === undefined || other === undefined || own.room === other.room) return []
      const homeless = [own, other].find(({ floor }) => floor < 0)
      if (homeless !== undefined) return [`${house}/${homeless.room} has no floor in test/architecture.ts`]
      if (other.floor < own.floor) return []
      const where = other.floor === own.floor ? 'the same floor' : 'a higher floor'
      return [`${from} imports ${to}: ${house}/${other.room} is on ${where}`]
    })
  })
}

/** Returns the room and the floor of a file by its path in the house. The floor is -1 for a room that the list lacks. */
function findFloor(path: string, rooms: (typeof floors)[string]) {
  const [first = '', ...rest] = path.split('/')
  const room = rest.length > 0 ? `${first}/` : first
  return { room, floor: rooms.findIndex((floor) => floor.includes(room)) }
}

/** A circle that types alone close counts too: its files can only be understood together. */
function circles(imports: readonly Import[]): string[] {
  const targets = groupTargets(withoutEnds(imports))
  const seen = new Set<string>()
  return [...targets.keys()].flatMap((file) => {
    const way = seen.has(file) ? undefined : findWay(targets, file, (reached) => reached === file)
    for (const reached of way ?? []) seen.add(reached)
    return way === undefined ? [] : [`${way.join(' -> ')}: files import each other in a circle`]
  })
}

/** Leaves out, again and again, the imports by files that no file imports and those of files that import none. */
function withoutEnds(imports: readonly Import[]): readonly Import[] {
  const importing = new Set(imports.map(({ from }) => from))
  const imported = new Set(imports.map(({ to }) => to))
  const inner = imports.filter(({ from, to }) => imported.has(from) && importing.has(to))
  return inner.length === imports.length ? inner : withoutEnds(inner)
}

function groupTargets(imports: readonly Import[]): ReadonlyMap<string, ReadonlySet<string>> {
  const targets = new Map<string, Set<string>>()
  for (const { from, to } of imports) targets.set(from, (targets.get(from) ?? new Set()).add(to))
  return targets
}

/** Returns the shortest way over at least one import from `start` to the first file that is sought, both included. */
function findWay(
  targets: ReadonlyMap<string, ReadonlySet<string>>,
  start: string,
  isSought: (file: string) => boolean,
): string[] | undefined {
  const ways = [[start]]
  const seen = new Set<string>()
  for (const way of ways) {
    for (const next of targets.get(way.at(-1) ?? start) ?? []) {
      if (isSought(next)) return [...way, next]
      if (!seen.has(next)) ways.push([...way, next])
      seen.add(next)
    }
  }
  return undefined
}
