/** `reveille rollback`: has a running gateway serve a generation that it keeps, in the place of the files. */

import type { ReloadResult } from '@reveille/engine'
import type { Io } from '../io.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { answers, reportReload, tookText } from './reload-report.ts'

export async function rollback(
  generation: string,
  options: { readonly config?: string; readonly json?: boolean },
  io: Io,
): Promise<number> {
  const admin = await openAdmin(options, io)
  const path = `/api/generations/${generation}/rollback`
  const result = (await admin.post(path, {}, [answers.refused])) as ReloadResult
  const texts = {
    json: options.json ?? false,
    live: liveText(Number(generation), result),
    unchanged: `Generation ${result.generation} serves already.`,
    refused: `Generation ${generation} cannot serve any more`,
  }
  return reportReload(result, texts, io)
}

function liveText(asked: number, result: ReloadResult): string {
  const { generation, rolledBack } = result
  // The same files with other variables and secrets than then may be another generation.
  const name =
    generation === asked ? '' : ` as generation ${generation}, for a variable or secret is another now`
  const until = rolledBack
    ? ', in the place of the files until they change or `reveille reload` ends it'
    : ', as the files have it'
  return `Generation ${asked} serves again${name}${until} (${tookText(result)}).`
}
