/** `reveille generations`: lists what went live and what was refused, as a running gateway keeps it, and what one changed in the files. */

import { formatPlace } from '@reveille/engine'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { changesText } from '../../observe/changes-text.ts'
import { printable } from '../../observe/printable.ts'
import { CommandFailure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { type Admin, openAdmin } from '../reading/admin-client.ts'
import { errorsOf, type GenerationItem } from '../reading/generation-item.ts'
import { formatTable, shortTime } from '../table.ts'

const header = ['NUMBER', 'STATE', 'TIME', 'BY', 'MAPPINGS', 'CHANGES']

interface GenerationsOptions extends CommandOptions {
  /** The number of the generation that `asked` is compared with. */
  readonly with?: string
}

/** `asked` is the number of one generation. */
export async function generations(
  asked: string | undefined,
  options: GenerationsOptions,
  io: Io,
): Promise<number> {
  if (options.with !== undefined && asked === undefined)
    throw new CommandFailure(2, '--with is for one generation: `reveille generations 12 --with 9`.')
  const admin = await openAdmin(options, io)
  const page = (await admin.get('/api/generations')) as { readonly items: readonly GenerationItem[] }
  if (asked !== undefined) return compare(Number(asked), page.items, admin, options, io)
  if (options.json) {
    io.out(`${JSON.stringify(page, null, 2)}\n`)
    return 0
  }
  const { items } = page
  io.out(
    formatTable(
      header,
      items.map((item) => rowOf(item, io)),
      io.columns,
    ),
  )
  const held = items.find(({ rolledBack }) => rolledBack)
  if (held)
    io.out(
      `\nGeneration ${held.generation} serves in the place of the files until they change or \`reveille reload\` ends it.\n`,
    )
  if (items.some(({ stands }) => stands))
    io.out('\nThe files as they are now are refused; `reveille reload` says why.\n')
  return 0
}

interface Comparison {
  readonly from: number
  readonly to: number
  readonly files: readonly {
    readonly name: string
    readonly change: string
    readonly before?: string
    readonly after?: string
    readonly isCut?: true
  }[]
}

async function compare(
  to: number,
  items: readonly GenerationItem[],
  admin: Admin,
  { with: other, json = false }: GenerationsOptions,
  io: Io,
): Promise<number> {
  const place = items.findIndex(({ generation }) => generation === to)
  const before = items
    .slice(place + 1)
    .find(({ generation }) => generation !== undefined && generation !== to)
  const from = other ?? before?.generation
  if (place >= 0 && from === undefined)
    throw new CommandFailure(1, `No generation before ${to} is kept, with which it could be compared.`)
  const path = `/api/generations/${to}/compare`
  const comparison = (await admin.get(path, { with: String(from ?? to) })) as Comparison
  if (json) io.out(`${JSON.stringify(comparison, null, 2)}\n`)
  else if (comparison.files.length === 0)
    io.out(`The files of generations ${comparison.from} and ${to} are the same.\n`)
  else io.out(comparison.files.map((file) => patchOf(file, comparison)).join(''))
  return 0
}

function patchOf(
  { name, change, before = '', after = '', isCut }: Comparison['files'][number],
  { from, to }: Comparison,
) {
  if (isCut) return `${printable(name)} ${change}; it is too long to be shown.\n`
  const patch = createTwoFilesPatch(name, name, before, after, `generation ${from}`, `generation ${to}`, {
    headerOptions: FILE_HEADERS_ONLY,
  })
  return patch
    .split('\n')
    .map((line) => `${line.replaceAll(/[^\t]+/g, printable)}\n`)
    .join('')
}

function rowOf(item: GenerationItem, io: Io): readonly string[] {
  const { generation, state, at, by = '', mappings, changes } = item
  return [
    generation === undefined ? '-' : String(generation),
    state,
    shortTime(at, io.now()),
    by,
    mappings === undefined ? '' : String(mappings),
    state === 'rejected' ? refusalText(item, io) : changesText(changes),
  ]
}

/** The number of errors, and the place of the first one. */
function refusalText(item: GenerationItem, io: Io): string {
  const first = item.diagnostics.find(({ severity }) => severity === 'error')
  const where = first?.place ? ` ${formatPlace(first.place, io.cwd)}` : ''
  return first === undefined ? errorsOf(item) : `${errorsOf(item)}:${where} ${first.code}`
}
