/** `reveille forget`: erases what requests brought, and keeps that they came. */

import { openClient } from '../client.ts'
import { badUsage, failure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { counted, print, shortId } from '../print.ts'
import { queryOf } from './filters.ts'
import { findOne } from './records.ts'

/** @returns 1 where one of them could not be forgotten */
export async function forget(names: readonly string[], io: Io, options: CommandOptions): Promise<number> {
  const { yes = false } = options
  const filter = queryOf(io, options)
  const isFiltered = Object.keys(filter).length > 0
  if (isFiltered === names.length > 0)
    throw badUsage('Name the requests, or say which: --endpoint, --client, --until and the like.')
  const client = await openClient(io)
  const chosen = isFiltered
    ? { filter }
    : { ids: await Promise.all(names.map((name) => findOne(client, 'request', name))) }
  const ask = (body: object) => client.ask('forgetRequests', { body })
  const counting = yes ? undefined : await ask({ ...chosen, dryRun: true })
  const isNone = counting !== undefined && 'total' in counting && counting.total === 0
  if (!isNone && counting !== undefined && 'total' in counting) await confirm(counting.total, io)
  const answer = isNone ? undefined : await ask(chosen)
  const { forgotten, refused } =
    answer !== undefined && 'forgotten' in answer ? answer : { forgotten: 0, refused: [] }
  if (!io.json) io.err(refused.map(({ id, reason }) => `${shortId(id)}: not forgotten: ${reason}\n`).join(''))
  const text = forgotten === 0 ? 'No request was forgotten.' : `${counted(forgotten, 'request')} forgotten.`
  return print(io, { forgotten, refused }, () => text, refused.length === 0 ? 0 : 1)
}

async function confirm(total: number, io: Io): Promise<void> {
  const what = `${counted(total, 'request')} with what came of ${total === 1 ? 'it' : 'them'}`
  const prompts = await io.prompts?.()
  if (prompts === undefined) throw badUsage(`This erases the texts of ${what} for good. Say --yes to do so.`)
  const [no, answer] = ['No', `Erase the texts of ${what}`]
  if ((await prompts.choose('This cannot be undone.', [no, answer])) !== answer)
    throw failure('Nothing was forgotten.')
}
