/** Renders the page that lists every key of the configuration, from the schemas that check it. */

import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { configurationSchema } from '../engine/config/schema/configuration-schema.ts'
import type { SchemaNode } from '../engine/config/schema/keywords.ts'
import { mappingFileSchema } from '../engine/config/schema/mapping-schema.ts'
import { adjustableFields } from '../engine/config/schema/preset-schema.ts'

/** Properties that only the schemas of plugins have. */
interface Node extends SchemaNode {
  readonly anyOf?: readonly Node[]
  readonly $defs?: Readonly<Record<string, Node>>
}

const root = configurationSchema as unknown as Node

/** Keys of a preset that are those of a mapping. */
const presetFields: readonly string[] = Object.values(adjustableFields).flat()
const presetText = `A name, or a map with these keys and, as in [mappings](#mappings), ${presetFields.map((name) => `\`${name}\``).join(', ')}.`
const testText =
  'In mapping files alone. `tests[].expect` may also have each field of the action, and `actions`, a list of the same keys.'

/** Keys with a section of their own: its title, the start of its keys, and further text. */
const sections: readonly (readonly [title: string, place: string, text?: string])[] = [
  ['Gateway', 'gateway'],
  ['Hooks', 'hooks'],
  ['Presets', 'hooks.presets[]', presetText],
  [
    'Policies of endpoints',
    'hooks.endpoints.<endpoint>',
    'See [Trust](../trust.md). `budget` has the keys of `agents.budget`.',
  ],
  ['Mappings', 'hooks.mappings[]', 'See [Mappings](../mappings.md).'],
  ['Tests of mappings', 'tests[]', testText],
  ['History', 'history'],
  ['Agents', 'agents', 'See [Agents](../agents.md).'],
  ['Deliveries', 'deliveries'],
]

/** Keys whose own keys are listed elsewhere, or in their description. */
const closed = new Set([
  ...sections
    .map(([, place]) => place.replace(/(?:\[\]|\.<\w+>)$/, ''))
    .filter((place) => place.includes('.')),
  'tests[].expect.actions',
  'hooks.transforms.modules',
  'hooks.endpoints.<endpoint>.budget',
  'agents.runners.<runner>.thinking',
  'hooks.gmail.baseUrls',
])

export function renderConfigurationPage(repository: string): string {
  const others = Object.keys(root.properties ?? {}).filter(
    (name) => !sections.some(([, place]) => place === name),
  )
  return `# Configuration

Every key of \`reveille.yaml\` with type and default, written by \`npm run schemas\`. \`reveille check\` tests a file against them.

A value may be \`\${NAME}\`, \`\${NAME:-default}\` (from the environment or \`.env\`) or \`\${file:/path}\`. Durations are \`250ms\`, \`10s\`, \`30m\`, \`24h\`, \`7d\`.
\`<…>\` is a name of yours, \`[]\` an entry of a list.

${sections
  .map(([title, place, text]) => {
    const node = nodeAt(place)
    const about = [node.description, text].filter(Boolean).join(' ')
    return section(
      title,
      about,
      keysBelow(node, place).filter((row) => !repeatsMapping(row)),
    )
  })
  .join('')}${section(
  'The rest',
  '',
  others.flatMap((name) => keysOf(root.properties?.[name] ?? {}, name, false)),
)}${pluginSections(repository).join('')}`
}

function section(title: string, text: string, rows: readonly string[]): string {
  return `## ${title}\n\n${text === '' ? '' : `${text}\n\n`}${rows.join('\n')}\n\n`
}

/** Finds the schema at `a.b[].<name>`. */
function nodeAt(place: string): Node {
  const from = place.startsWith('tests') ? (mappingFileSchema as unknown as Node) : root
  return place.split('.').reduce((node: Node, step) => {
    const next = step.startsWith('<') ? node.additionalProperties : node.properties?.[step.replace('[]', '')]
    if (typeof next !== 'object') throw new Error(`The schema has no ${place}`)
    return step.endsWith('[]') ? (next.items ?? next) : next
  }, from)
}

function repeatsMapping(row: string): boolean {
  const [, field = ''] = /^- `hooks\.presets\[\]\.(\w+)/.exec(row) ?? []
  return presetFields.includes(field) || /: The action's `\w+`\.$/.test(row)
}

/** The keys that each plugin of this repository checks itself. */
function pluginSections(repository: string): string[] {
  return globSync('plugins/*/config.schema.json', { cwd: repository })
    .sort()
    .flatMap((file) => {
      const read = (name: string) =>
        JSON.parse(readFileSync(path.join(repository, path.dirname(file), name), 'utf8'))
      const { channels = [], runners = [], sources = [] } = read('package.json').reveille
      const schema: Node = read('config.schema.json')
      const places: readonly (readonly [title: string, place: string])[] = [
        ...channels.map((name: string) => [`Channel ${name}`, `channels.${name}`]),
        ...runners.map((name: string) => [`Runner ${name}`, 'agents.runners.<runner>']),
        ...sources.map((name: string) => [
          `Source ${name}`,
          name === 'gmail' ? 'hooks.gmail' : `sources.${name}`,
        ]),
      ]
      return places.flatMap(([title, place]) => {
        const rows = keysBelow(schema, place, schema.$defs)
        return rows.length === 0 ? [] : [section(title, '', rows)]
      })
    })
}

/** One row for each key below a node, each with its type, its default and its description. */
export function keysBelow(node: Node, place: string, definitions: Node['$defs'] = {}): string[] {
  const { properties = {}, required = [], additionalProperties: rest, items } = node
  return [
    ...Object.entries(properties).flatMap(([name, child]) =>
      keysOf(child, `${place}.${name}`, required.includes(name), definitions),
    ),
    ...(typeof rest === 'object'
      ? keysBelow(resolve(rest, definitions), `${place}.<name>`, definitions)
      : []),
    ...(items ? keysBelow(resolve(items, definitions), `${place}[]`, definitions) : []),
  ]
}

function keysOf(given: Node, place: string, isRequired: boolean, definitions: Node['$defs'] = {}): string[] {
  const node = resolve(given, definitions)
  const below = closed.has(place) ? [] : keysBelow(node, place, definitions)
  // A map whose keys are listed says no more than they do.
  if (below.length > 0 && (node.type === 'object' || node.items?.type === 'object')) return below
  const value = isRequired && node.default === undefined ? 'required' : defaultOf(node)
  const facts = [typeOf(node, definitions), value].filter(Boolean).join(', ')
  const text = (node.description ?? '').replace(/\s*\n\s*/g, ' ')
  return [`- \`${place}\` (${facts})${text === '' ? '' : `: ${text}`}`, ...below]
}

/** Puts the definition that a plugin's schema refers to into its place. */
function resolve(node: Node, definitions: Node['$defs'] = {}): Node {
  const [, name = ''] = /^#\/\$defs\/(.+)$/.exec(node.$ref ?? '') ?? []
  return { ...definitions[name], ...node }
}

function typeOf(node: Node, definitions: Node['$defs']): string {
  const { type = [], enum: names, items, expects, minimum, maximum, anyOf } = node
  if (names) return names.map((name) => `\`${name}\``).join(', ')
  if (anyOf)
    return [...new Set(anyOf.map((each) => typeOf(resolve(each, definitions), definitions)))].join(' or ')
  const range =
    minimum === undefined ? '' : maximum === undefined ? ` ≥ ${minimum}` : ` ${minimum}–${maximum}`
  const words = [type].flat().map((each) => {
    if (each === 'string') return expects?.startsWith('a duration') ? 'duration' : 'string'
    if (each === 'array')
      return items === undefined
        ? 'list'
        : `list of ${typeOf(resolve(items, definitions), definitions).replace(/^\w+$/, '$&s')}`
    return each === 'object' ? 'map' : each + (each === 'boolean' ? '' : range)
  })
  return words.join(' or ') || 'anything'
}

function defaultOf({ default: value }: Node): string {
  if (value === undefined || (typeof value === 'object' && Object.keys(value as object).length === 0))
    return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const [first = ''] = text.split('\n')
  return `default \`${first}\`${first === text ? '' : ' …'}`
}
