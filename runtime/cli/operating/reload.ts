/** `reveille reload`: has a running gateway read its files again, or say what that would change. */

import type { ReloadResult } from '@reveille/engine'
import type { DryRunResult } from '../../reload/dry-run.ts'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { tellDryRun } from './dry-run-answer.ts'
import { answers, servesOn, tellAnswer, tookText } from './reload-answer.ts'

export interface ReloadOptions {
  readonly config?: string
  readonly dryRun?: boolean
  /** Of a dry run: how many stored requests are looked at. */
  readonly limit?: string
  readonly json?: boolean
}

export async function reload(options: ReloadOptions, io: Io): Promise<number> {
  const { dryRun = false, limit, json = false } = options
  if (limit !== undefined && !dryRun) throw new CommandFailure(2, '--limit is for --dry-run.')
  const admin = await openAdmin(options, io)
  if (dryRun) {
    const query = { dryRun: 'true', limit }
    return tellDryRun((await admin.post('/api/reload', query, [answers.refused])) as DryRunResult, json, io)
  }
  const result = (await admin.post('/api/reload', {}, [answers.refused])) as ReloadResult
  const told = {
    json,
    live: `Generation ${result.generation} is live (${tookText(result)}).`,
    unchanged: `Nothing to change: ${servesOn(result)}.`,
    refused: 'Refused',
  }
  return tellAnswer(result, told, io)
}
