/** Shows what a generation changed in the files, without secrets. */

import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { Answer, ItemOf } from '../../api/routes/client.ts'
import { printable } from '../../observe/printable.ts'
import type { Client } from '../client.ts'
import { failure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { print } from '../print.ts'

export type GenerationItem = ItemOf<'listGenerations'>

/** Notes below the list. */
export function generationNotes(items: readonly GenerationItem[]): string {
  const held = items.find(({ rolledBack }) => rolledBack)
  return [
    held &&
      `\nGeneration ${held.generation} serves in the place of the files until they change or \`reveille reload\` ends it.\n`,
    items.some(({ isCurrent }) => isCurrent) &&
      `\nThe files as they are now are refused; \`reveille reload\` says why.\n`,
  ]
    .filter(Boolean)
    .join('')
}

/** Shows how the files of a generation differ from those of another one, or of the one before. */
export async function showGeneration(
  client: Client,
  to: number,
  io: Io,
  { with: other }: CommandOptions,
): Promise<number> {
  const { items } = await client.ask('listGenerations', { query: { limit: 500 } })
  const place = items.findIndex(({ generation }) => generation === to)
  const before = items
    .slice(place + 1)
    .find(({ generation }) => generation !== undefined && generation !== to)
  const from = other === undefined ? before?.generation : Number(other)
  if (place >= 0 && from === undefined)
    throw failure(`No generation before ${to} is kept, with which it could be compared.`)
  const compared = await client.ask('compareGenerations', {
    params: { number: String(to) },
    query: { with: from ?? to },
  })
  return print(io, compared, () =>
    compared.files.length === 0
      ? `The files of generations ${compared.from} and ${to} are the same.`
      : compared.files.map((file) => patchOf(file, compared)).join(''),
  )
}

type Compared = Answer<'compareGenerations'>

function patchOf(
  { name, change, before = '', after = '', isCut }: Compared['files'][number],
  compared: Compared,
) {
  if (isCut) return `${printable(name)} ${change}; it is too long to be shown.\n`
  const [from, to] = [`generation ${compared.from}`, `generation ${compared.to}`]
  return createTwoFilesPatch(name, name, before, after, from, to, { headerOptions: FILE_HEADERS_ONLY })
    .split('\n')
    .map((line) => `${line.replaceAll(/[^\t]+/g, printable)}\n`)
    .join('')
}
