/** Renders the page that lists every key of the configuration, from the schemas that check it. */

import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { configurationSchema } from '../engine/config/schema/configuration-schema.ts'
import type { SchemaNode } from '../engine/config/schema/keywords.ts'
import { mappingFileSchema } from '../engine/config/schema/mapping-schema.ts'
import { adjustableFields } from '../engine/config/schema/preset-schema.ts'

/** Properties that only the schemas of plugins have. */
interface PluginNode extends SchemaNode {
  readonly const?: unknown
  readonly anyOf?: readonly PluginNode[]
  readonly oneOf?: readonly PluginNode[]
  readonly $defs?: Readonly<Record<string, PluginNode>>
  readonly 'x-form'?: string
}

interface Part {
  readonly title: string
  /** The start of its keys. */
  readonly prefix: string
  readonly node: SchemaNode
  readonly text?: string
}

const root = configurationSchema as unknown as SchemaNode
const mappingFile = mappingFileSchema as unknown as SchemaNode

/** Keys of a preset that are those of a mapping. */
const presetFields: readonly string[] = Object.values(adjustableFields).flat()

/** Keys with a table of their own, in which the names begin with the prefix. */
const parts: readonly Part[] = [
  part('Gateway', 'gateway'),
  part('Hooks', 'hooks'),
  part(
    'Presets',
    'hooks.presets[]',
    `A name, or a map with these keys and, as in [mappings](#mappings), ${presetFields.map((name) => `\`${name}\``).join(', ')}.`,
  ),
  part(
    'Policies of endpoints',
    'hooks.endpoints.<endpoint>',
    'See [Trust](../trust.md). `budget` has the keys of `agents.budget`.',
  ),
  part('Mappings', 'hooks.mappings[]', 'See [Mappings](../mappings.md).'),
  {
    title: 'Tests of mappings',
    prefix: 'tests[]',
    node: descend(mappingFile, 'tests[]'),
    text: 'In mapping files alone. `tests[].expect` may also have each field of the action, and `actions`, a list of the same keys.',
  },
  part('History', 'history'),
  part('Agents', 'agents', 'See [Agents](../agents.md).'),
  part('Deliveries', 'deliveries'),
]

function part(title: string, prefix: string, text?: string): Part {
  return { title, prefix, node: descend(root, prefix), ...(text !== undefined && { text }) }
}

/** Finds the schema below `a.b[].<name>`. */
function descend(from: SchemaNode, place: string): SchemaNode {
  return place.split('.').reduce((node, step) => {
    const rest = node.additionalProperties
    const next = step.startsWith('<') ? rest : node.properties?.[step.replace('[]', '')]
    if (typeof next !== 'object') throw new Error(`The schema has no ${place}`)
    return step.endsWith('[]') ? (next.items ?? next) : next
  }, from)
}

export function renderConfigurationPage(repository: string): string {
  const top = Object.entries(root.properties ?? {}).filter(
    ([name]) => !parts.some(({ prefix }) => prefix === name),
  )
  return [
    '# Configuration',
    '',
    'Every key of `reveille.yaml` with type and default, written by `npm run schemas`. `reveille check` tests a file against them.',
    '',
    'A value may be `${NAME}`, `${NAME:-default}` (from the environment or `.env`) or `${file:/path}`. Durations are `250ms`, `10s`, `30m`, `24h`, `7d`.',
    '`<…>` is a name of yours, `[]` an entry of a list.',
    '',
    ...parts.flatMap(({ title, prefix, node, text }) => [
      `## ${title}`,
      '',
      ...[node.description ?? '', ...(text === undefined ? [] : [text])]
        .filter(Boolean)
        .join(' ')
        .split('\n'),
      '',
      ...table(rowsOf(node, `${prefix}.`).filter((row) => !repeatsMapping(row))),
    ]),
    '## The rest',
    '',
    ...table(top.flatMap(([name, node]) => [row(name, node, false), ...rowsBelow(node, name)])),
    ...plugins(repository),
  ].join('\n')
}

function repeatsMapping(row: string): boolean {
  const [, field = ''] = /^- `hooks\.presets\[\]\.(\w+)/.exec(row) ?? []
  return presetFields.includes(field) || /: The action's `\w+`\.$/.test(row)
}

/** The keys that each plugin of this repository checks itself. */
function plugins(repository: string): string[] {
  const files = globSync('plugins/*/config.schema.json', { cwd: repository }).sort()
  const found = files.map((file) => {
    const folder = path.dirname(path.join(repository, file))
    const { reveille } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const schema = JSON.parse(readFileSync(path.join(folder, 'config.schema.json'), 'utf8')) as PluginNode
    return { reveille, schema }
  })
  const headed = found.flatMap(({ reveille: { channels = [], runners = [], sources = [] }, schema }) => [
    ...channels.map((name: string) => ({ title: `Channel ${name}`, prefix: `channels.${name}`, schema })),
    ...runners.map((name: string) => ({
      title: `Runner ${name}`,
      prefix: 'agents.runners.<runner>',
      schema,
    })),
    ...sources.map((name: string) => ({
      title: `Source ${name}`,
      prefix: name === 'gmail' ? 'hooks.gmail' : `sources.${name}`,
      schema,
    })),
  ])
  return headed.flatMap(({ title, prefix, schema }) => {
    const rows = rowsOf(resolved(schema, schema), `${prefix}.`)
    return rows.length === 0 ? [] : [`## ${title}`, '', ...table(rows)]
  })
}

/** Puts the definitions of a plugin's schema into the places that refer to them. */
function resolved(node: PluginNode, document: PluginNode, depth = 0): SchemaNode {
  const { $ref, ...own } = node
  const [, name = ''] = /^#\/\$defs\/(.+)$/.exec($ref ?? '') ?? []
  const whole = { ...document.$defs?.[name], ...own } as PluginNode
  if (depth > 8) return whole
  const inner = (child: PluginNode) => resolved(child, document, depth + 1)
  const rest = whole.additionalProperties
  return {
    ...whole,
    ...(whole['x-form'] !== undefined && { expects: whole['x-form'] }),
    ...(whole.properties && {
      properties: Object.fromEntries(
        Object.entries(whole.properties).map(([key, child]) => [key, inner(child)]),
      ),
    }),
    ...(whole.items && { items: inner(whole.items) }),
    ...(typeof rest === 'object' && { additionalProperties: inner(rest) }),
  } as SchemaNode
}

function table(rows: readonly string[]): string[] {
  return [...rows, '']
}

/** One row for each key below a map, which is below `prefix`. */
export function rowsOf({ properties = {}, required = [] }: SchemaNode, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, node]) => {
    const place = prefix + name
    const below = hasPart(place) ? [] : rowsBelow(node, place)
    // A map whose keys are listed says no more than they do.
    const own = below.length > 0 && isMapOnly(node) ? [] : [row(place, node, required.includes(name))]
    return [...own, ...below]
  })
}

/** Maps whose keys are listed elsewhere, or in their description. */
const shortened = new Set([
  'tests[].expect.actions',
  'hooks.transforms.modules',
  'hooks.endpoints.<endpoint>.budget',
  'agents.runners.<runner>.thinking',
  'hooks.gmail.baseUrls',
])

function rowsBelow(node: SchemaNode, place: string): string[] {
  if (shortened.has(place)) return []
  const { additionalProperties: rest, items } = node
  return [
    ...rowsOf(node, `${place}.`),
    ...(typeof rest === 'object' ? rowsOf(rest, `${place}.<name>.`) : []),
    ...(items ? rowsBelow(items, `${place}[]`) : []),
  ]
}

function isMapOnly({ type, items }: SchemaNode): boolean {
  return type === 'object' || (type === 'array' && items?.type === 'object')
}

function hasPart(place: string): boolean {
  return parts.some(({ prefix }) => prefix === `${place}[]` || prefix.startsWith(`${place}.<`))
}

function row(place: string, node: SchemaNode, isRequired: boolean): string {
  const value = isRequired && node.default === undefined ? 'required' : defaultOf(node)
  const facts = [typeOf(node), value].filter(Boolean).join(', ')
  const text = (node.description ?? '').replace(/\s*\n\s*/g, ' ')
  return `- \`${place}\` (${facts})${text === '' ? '' : `: ${text}`}`
}

function typeOf(node: SchemaNode): string {
  const { type, enum: names, items, expects, minimum, maximum } = node
  const alternatives = (node as PluginNode).anyOf ?? (node as PluginNode).oneOf
  if (names) return names.map((name) => `\`${name}\``).join(', ')
  if (alternatives) return [...new Set(alternatives.map(typeOf))].join(' or ')
  const types = type === undefined ? [] : [type].flat()
  const words = types.map((each) => {
    if (each === 'string') return expects?.startsWith('a duration') ? 'duration' : 'string'
    if (each === 'array') return items === undefined ? 'list' : `list of ${pluralOf(items)}`
    if (each === 'object') return 'map'
    if (each === 'boolean') return 'boolean'
    return each + rangeOf(minimum, maximum)
  })
  return words.length === 0 ? 'anything' : words.join(' or ')
}

function pluralOf(node: SchemaNode): string {
  const plurals = {
    string: 'strings',
    map: 'maps',
    duration: 'durations',
    'string or list of strings': 'strings or lists',
  }
  const one = typeOf(node)
  return (plurals as Record<string, string>)[one] ?? one
}

function rangeOf(minimum?: number, maximum?: number): string {
  const [min, max] = [minimum?.toLocaleString('en'), maximum?.toLocaleString('en')]
  if (min === undefined) return max === undefined ? '' : `, at most ${max}`
  return max === undefined ? `, at least ${min}` : ` ${min}–${max}`
}

function defaultOf({ default: value }: SchemaNode): string {
  if (value === undefined) return ''
  if (typeof value === 'object' && Object.keys(value as object).length === 0) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const [first = ''] = text.split('\n')
  return `default \`${first}\`${first === text ? '' : ' …'}`
}
