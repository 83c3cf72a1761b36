/**
 * Allowed imports between rooms. `npm run check` reads every import with dependency-cruiser and refuses what breaks a rule: the engine
 * knows nothing of its host, a plugin nothing of the gateway, and no files import each other in a circle.
 */

interface Rule {
  readonly name: string
  readonly severity: 'error'
  readonly from: object
  readonly to: object
}

/**
 * The floors of each half, from the lowest to the highest. A file imports files of its own room and of lower floors, types included; rooms
 * of one floor do not know each other. So runtime/http never reaches runtime/dispatch.
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
    ['index.ts', 'text.ts'],
  ],
  runtime: [
    [
      'cut.ts',
      'exclusive-lock.ts',
      'mutex.ts',
      'once-for-each.ts',
      'package-folder.ts',
      'pause.ts',
      'redact.ts',
      'repeat-if-asked.ts',
      'trace-context.ts',
      'write-whole.ts',
      'presets-folder.ts',
      'bin/',
    ],
    ['configured-names.ts', 'gateway-file.ts', 'transforms.ts', 'written-document.ts', 'scaffold/', 'store/'],
    ['agent/', 'generations/', 'guard/', 'observe/', 'plugin/'],
    ['session/'],
    ['http/'],
    ['dispatch/', 'reload/', 'replay/', 'sources/', 'trust/', 'tunnel.ts'],
    ['issues/'],
    ['api/'],
    ['assembly/'],
    ['gateway.ts'],
    ['cli/', 'index.ts'],
    ['main.ts'],
  ],
  console: [['browser/', 'data/', 'style/', 'editor/'], ['parts/'], ['pages/'], ['app/'], ['main.tsx']],
}

/** Tests, what they share, and tools import what they like. */
const free = '([.]test|[.]soak|-subject)[.]ts$|^(test|tools)/'
const packages = '^(engine|runtime|console|plugins|transforms)/'
const kit = '^plugins/kit/((markdown|fake-server)/)?index[.]ts$'
const typesOfTheApi = '^runtime/(store/records[.]ts$|api/routes/)'

/** The other packages of this repository that a package imports. */
const walls: readonly (readonly [from: string, allowed: readonly string[], rule: string])[] = [
  ['^engine/', [], 'engine imports no other package of this repository'],
  ['^plugins/kit/', [], 'plugins/kit imports no other package of this repository'],
  ['^plugins/(?!kit/)([^/]+)/', ['^plugins/$1/', kit], 'a plugin imports only the kit'],
  ['^transforms/', ['^engine/transform/define[.]ts$'], 'a transform imports only engine/transform/define'],
  [
    '^runtime/',
    ['^engine/(index|text|config/schema/type)[.]ts$', '^plugins/kit/index[.]ts$'],
    'runtime imports only what the packages of engine and kit export',
  ],
  [
    '^console/',
    [typesOfTheApi, '^runtime/schemas/mappings[.]json$', '^runtime/observe/changes-text[.]ts$'],
    'console imports only what the API answers, the schema of mappings and the words for changes',
  ],
]

/** Libraries that one room alone imports; other rooms use that room. */
const keepers = [
  ['plugins/gmail/mail/html/', 'htmlparser2'],
  ['plugins/postgres/', 'pg'],
] as const

/** Files that a room must not reach, over however many files. */
const gaps = [
  ['^plugins/gmail/google/', '^plugins/gmail/(mail|watch|connect)/', 'google knows nothing of its users'],
  [
    '^plugins/gmail/mail/',
    '^plugins/gmail/(google/(?!port[.]ts)|watch/|connect/)',
    'mail knows of Google only what a message looks like',
  ],
  ['^plugins/gmail/watch/', '^plugins/gmail/connect/', 'watch reads what setup wrote, and never runs setup'],
  ['^runtime/dispatch/', '^runtime/http/', 'the store is the wall between accepting and performing'],
] as const

const forbidden: Rule[] = [
  refuse('files import each other in a circle', {}, { circular: true }),
  refuse('this import leads nowhere', { pathNot: '^tools/imports/' }, { couldNotResolve: true }),
  refuse('only tests and tools import tests and tools', { pathNot: free }, { path: free }),
  ...walls.map(([from, allowed, rule]) =>
    refuse(
      rule,
      { path: from, pathNot: free },
      { path: packages, pathNot: [from.includes('(') ? '^$' : from, ...allowed] },
    ),
  ),
  refuse(
    'console imports only the types of what the API answers',
    { path: '^console/', pathNot: free },
    { path: typesOfTheApi, dependencyTypesNot: ['type-only', 'type-import'] },
  ),
  ...keepers.map(([room, library]) =>
    refuse(
      `only ${room} imports this library`,
      { path: packages, pathNot: [`^${room}`, free] },
      { path: `(^|/)node_modules/(@types/)?${library}/` },
    ),
  ),
  ...gaps.map(([from, to, rule]) =>
    refuse(rule, { path: from, pathNot: free }, { path: to, reachable: true }),
  ),
  ...Object.entries(floors).flatMap(([house, rows]) => upwardImports(house, rows)),
]

/** One floor imports nothing of the floors above it, and its rooms nothing of each other. */
function upwardImports(house: string, rows: readonly (readonly string[])[]): Rule[] {
  const match = (rooms: readonly string[]) =>
    `^${house}/(${rooms.map((room) => room.replace('.', '[.]').replace(/[^/]$/, '$&$')).join('|')})`
  const homeless = refuse(
    `${house}: this room has no floor in .dependency-cruiser.ts`,
    { path: `^${house}/`, pathNot: [match(rows.flat()), free] },
    {},
  )
  return [
    homeless,
    ...rows.flatMap((rooms, floor) => {
      const from = { path: match(rooms), pathNot: free }
      const above = rows.slice(floor + 1).flat()
      return [
        ...(rooms.length > 1
          ? [refuse(`${house}: on the same floor`, from, { path: match(rooms), pathNot: `^${house}/$1` })]
          : []),
        ...(above.length > 0 ? [refuse(`${house}: on a higher floor`, from, { path: match(above) })] : []),
      ]
    }),
  ]
}

function refuse(name: string, from: object, to: object): Rule {
  return { name, severity: 'error', from, to }
}

export default {
  forbidden,
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(build|local)/' },
    // Imports of types count, and those that a bundler would drop.
    tsPreCompilationDeps: true,
    moduleSystems: ['es6'],
    skipAnalysisNotInRules: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      mainFields: ['types', 'main'],
      conditionNames: ['types', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.json', '.d.ts'],
    },
  },
}
