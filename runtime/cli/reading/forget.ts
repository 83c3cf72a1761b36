/** `reveille requests forget`: erases what requests brought, and keeps that they came. */

import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { CommandOptions, Io } from '../io.ts'
import { shortId } from '../table.ts'
import { doneMs, openAdmin } from './admin-client.ts'
import { wholeIdOf } from './find.ts'
import { type RequestFilterOptions, requestFilterQuery } from './request-filters.ts'

interface ForgetOptions extends CommandOptions, RequestFilterOptions {
  readonly yes?: boolean
}

interface Forgotten {
  readonly forgotten: number
  readonly refused: readonly { readonly id: string; readonly reason: string }[]
}

/** @returns 1 where one of them could not be forgotten */
export async function forgetRequests(
  names: readonly string[],
  options: ForgetOptions,
  io: Io,
): Promise<number> {
  const { yes = false, json = false } = options
  const filter = requestFilterQuery(options, io)
  const isFiltered = Object.keys(filter).length > 0
  if (isFiltered === names.length > 0)
    throw new CommandFailure(
      2,
      'Name the requests, or say which: --endpoint, --client, --until and the like.',
    )
  const admin = await openAdmin(options, io)
  const chosen = isFiltered
    ? { filter }
    : { ids: await Promise.all(names.map((name) => wholeIdOf(admin, 'requests', name))) }
  const post = (body: object) => admin.sendJson('POST', '/api/requests/forget', body, { ms: doneMs })
  if (!yes) {
    const { total } = (await post({ ...chosen, dryRun: true })) as { readonly total: number }
    if (total === 0) return report({ forgotten: 0, refused: [] }, json, io)
    await confirm(total, io)
  }
  return report((await post(chosen)) as Forgotten, json, io)
}

async function confirm(total: number, io: Io): Promise<void> {
  const what = `${counted(total, 'request')} with what came of ${total === 1 ? 'it' : 'them'}`
  const prompts = await io.prompts?.()
  if (prompts === undefined)
    throw new CommandFailure(2, `This erases the texts of ${what} for good. Say --yes to do so.`)
  const [no, answer] = ['No', `Erase the texts of ${what}`]
  if ((await prompts.choose('This cannot be undone.', [no, answer])) !== answer)
    throw new CommandFailure(1, 'Nothing was forgotten.')
}

function report({ forgotten, refused }: Forgotten, json: boolean, io: Io): number {
  if (json) io.out(`${JSON.stringify({ forgotten, refused }, null, 2)}\n`)
  else {
    for (const { id, reason } of refused) io.err(`${shortId(id)}: not forgotten: ${reason}\n`)
    io.out(forgotten === 0 ? 'No request was forgotten.\n' : `${counted(forgotten, 'request')} forgotten.\n`)
  }
  return refused.length === 0 ? 0 : 1
}
