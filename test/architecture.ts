/** Owns the rules of who may import whom. The walls keep the engine ignorant of hosts, and plugins ignorant of us. */

import { type Import, library } from './import-graph.ts'

const kit = 'plugins/kit/index.ts'
const kitDoors = [kit, 'plugins/kit/markdown/index.ts', 'plugins/kit/fake-server/index.ts']
const engine = 'engine/index.ts'
const define = 'engine/transform/define.ts'

interface Wall {
  /** Files that the wall stands around. */
  readonly around: RegExp
  /** What they may import besides each other, given the file's own match of `around`. */
  readonly allows: (to: string, own: string) => boolean
  readonly rule: string
}

const walls: readonly Wall[] = [
  { around: /^plugins\/kit\//, allows: () => false, rule: 'plugins/kit imports nothing of ours' },
  { around: /^engine\//, allows: () => false, rule: 'engine imports nothing of ours' },
  {
    around: /^plugins\/[^/]+\//,
    allows: (to) => kitDoors.includes(to),
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
]

/** Libraries that one room alone knows: to the others it has a face of its own. */
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
] as const

/** What must not be reached from where, over however many files. */
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
    from: /^runtime\/(http|plugin)\//,
    to: /^runtime\/sources\//,
    rule: 'runtime/http and runtime/plugin are made use of by sources, and know none',
  },
  {
    from: /^runtime\/sources\//,
    to: /^runtime\/(dispatch|api|cli)\//,
    rule: 'runtime/sources fetches for the hook surface, and knows nobody behind it',
  },
  {
    from: /^runtime\/http\//,
    to: /^runtime\/dispatch\//,
    rule: 'runtime/http never reaches runtime/dispatch: the store is the wall between accepting and doing',
  },
  {
    from: /^runtime\/dispatch\//,
    to: /^runtime\/(http|api)\//,
    rule: 'runtime/dispatch knows nothing of who accepts or looks on',
  },
  {
    from: /^runtime\/(agent|guard|session|store)\//,
    to: /^runtime\/(dispatch|http|api|cli)\//,
    rule: 'agent, guard, session and store serve the rooms that accept and perform, and know none of them',
  },
  {
    from: /^engine\/config\//,
    to: /^engine\/(compile|resolve|reload|boundary|lint|cases)\//,
    rule: 'engine/config knows no later pass',
  },
  {
    from: /^engine\/(compile|resolve|boundary|lint|cases)\//,
    to: /^engine\/reload\//,
    rule: 'only engine/reload knows what is live',
  },
] as const

/** One sentence for each broken rule; none when the house stands as drawn. Tests may import anything. */
export function findViolations(imports: readonly Import[]): string[] {
  const ours = imports.filter(({ from }) => !isFree(from))
  return [...breaches(ours), ...leaks(ours), ...crossings(ours), ...cycles(ours)]
}

function isFree(file: string): boolean {
  return /\.test\.ts$|^(test|tools)\//.test(file)
}

function breaches(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to }) => {
    if (isFree(to)) return [`${from} imports ${to}: only tests and tools import tests and tools`]
    if (to.startsWith(library)) return []
    const wall = walls.find(({ around }) => around.test(from))
    const own = wall?.around.exec(from)?.[0]
    if (wall === undefined || own === undefined || to.startsWith(own) || wall.allows(to, own)) return []
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

function crossings(imports: readonly Import[]): string[] {
  const targets = groupTargets(imports, (file) => file)
  return gaps.flatMap(({ from, to, rule }) =>
    [...targets.keys()]
      .filter((file) => from.test(file))
      .flatMap((file) => {
        const way = findWay(targets, file, (reached) => to.test(reached))
        return way === undefined ? [] : [`${way.join(' -> ')}: ${rule}`]
      }),
  )
}

/** Types may refer to each other across folders; what runs may not. */
function cycles(imports: readonly Import[]): string[] {
  const values = imports.filter(({ isType }) => !isType)
  const targets = groupTargets(values, folderOf)
  const found = new Map<string, string>()
  for (const [folder, reached] of targets) {
    for (const first of reached) {
      const way = findWay(targets, first, (each) => each === folder)
      const circle = [...new Set(way)].sort().join()
      if (way !== undefined && !found.has(circle)) found.set(circle, describeWay([folder, ...way], values))
    }
  }
  return [...found.values()].map((way) => `${way}: folders import each other in a circle`)
}

/** By one import for each step, since a folder has no line to mend. */
function describeWay(folders: readonly string[], imports: readonly Import[]): string {
  const steps = folders.slice(1).map((folder, index) => {
    const step = imports.find(({ from, to }) => folderOf(from) === folders[index] && folderOf(to) === folder)
    return `${step?.from} imports ${step?.to}`
  })
  return steps.join(', ')
}

/** A part of a package is one folder, whatever is below it; a file beside the parts is a part of its own. */
function folderOf(file: string): string {
  const [top, part, ...rest] = file.split('/')
  return top === 'plugins' || rest.length > 0 ? `${top}/${part}` : file
}

function groupTargets(imports: readonly Import[], nameOf: (file: string) => string) {
  const targets = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    const name = nameOf(from)
    const reached = targets.get(name) ?? new Set()
    if (nameOf(to) !== name) reached.add(nameOf(to))
    targets.set(name, reached)
  }
  return targets
}

/** The shortest way from `start` to the first that is sought, both included. */
function findWay(
  targets: ReadonlyMap<string, ReadonlySet<string>>,
  start: string,
  isSought: (name: string) => boolean,
): string[] | undefined {
  const ways = [[start]]
  const seen = new Set([start])
  for (const way of ways) {
    const last = way.at(-1) ?? start
    if (isSought(last)) return way
    for (const next of targets.get(last) ?? []) {
      if (!seen.has(next)) ways.push([...way, next])
      seen.add(next)
    }
  }
  return undefined
}
