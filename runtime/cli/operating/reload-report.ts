/** Reports the outcome of a reload or a rollback to a person: findings first, then what is live. */

import type { ReloadResult } from '@reveille/engine'
import { changesParts } from '../../observe/changes-text.ts'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { formatDiagnostics } from '../configuration.ts'
import type { Io } from '../io.ts'
import { errorsOf } from '../reading/generation-item.ts'

/** The statuses of the gateway's answers, a refusal included. */
export const answers = { ok: 200, refused: 409 }

export interface ReloadTexts {
  readonly json?: boolean
  /** The text for a candidate that is live now. */
  readonly live: string
  /** The text where nothing had to change. */
  readonly unchanged: string
  /** The text before the number of errors of a candidate that was refused. */
  readonly refused: string
}

/** @returns the exit code: 1 for a refused candidate */
export function reportReload(result: ReloadResult, texts: ReloadTexts, io: Io): number {
  const { ok, outcome, diagnostics } = result
  if (texts.json) io.out(`${JSON.stringify(result, null, 2)}\n`)
  else {
    if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
    if (outcome === 'rejected') io.err(`${texts.refused}: ${errorsOf(result)}; ${servesOn(result)}.\n`)
    else if (outcome === 'unchanged') io.out(`${texts.unchanged}\n`)
    else io.out([texts.live, ...changeLines(result, io)].map((line) => `${line}\n`).join(''))
  }
  return ok ? 0 : 1
}

/** An indented line for each kind of change, broken where the terminal ends. */
function changeLines({ changes }: Pick<ReloadResult, 'changes'>, { columns }: Io): string[] {
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns - 4, 20)
  const parts = changesParts(changes)
  if (parts.length === 0) return ['  no mapping, endpoint, transform or setting is different']
  return parts.flatMap((part) =>
    wrapWords(printable(part), room).map((line, index) => `${index === 0 ? '  ' : '    '}${line}`),
  )
}

export function servesOn({ generation }: Pick<ReloadResult, 'generation'>): string {
  return generation === undefined ? 'nothing serves' : `generation ${generation} goes on serving`
}

/** `8 ms`, `1.2 s`. */
export function tookText({ tookMs }: Pick<ReloadResult, 'tookMs'>): string {
  return tookMs < 1000 ? `${Math.round(tookMs)} ms` : `${(tookMs / 1000).toFixed(1)} s`
}
