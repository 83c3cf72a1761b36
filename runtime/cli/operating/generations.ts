/** `reveille generations`: lists what went live and what was refused, as a running gateway keeps it. */

import { formatPlace } from '@reveille/engine'
import { changesText } from '../../observe/changes-text.ts'
import type { CommandOptions, Io } from '../io.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { errorsOf, type GenerationItem } from '../reading/generation-item.ts'
import { formatTable, shortTime } from '../table.ts'

const header = ['NUMBER', 'STATE', 'TIME', 'MAPPINGS', 'CHANGES']

export async function generations(options: CommandOptions, io: Io): Promise<number> {
  const admin = await openAdmin(options, io)
  const page = (await admin.get('/api/generations')) as { readonly items: readonly GenerationItem[] }
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

function rowOf(item: GenerationItem, io: Io): readonly string[] {
  const { generation, state, at, mappings, changes } = item
  return [
    generation === undefined ? '-' : String(generation),
    state,
    shortTime(at, io.now()),
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
