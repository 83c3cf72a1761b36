/** Formats a diagnosis for people: the result, the findings with what to do, and what was looked at. */

import type { Diagnosis, Finding } from '@reveille/engine'
import type { Paint } from '../../observe/paint.ts'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { formatFacts } from '../facts.ts'

export interface FormatOptions {
  readonly endpoint: string
  readonly isNowGiven: boolean
  readonly paint: Paint
  /** The width of the terminal; without it lines are not wrapped. */
  readonly columns: number | undefined
}

const indent = ' '.repeat(2)

/** The text ends with a line break. */
export function formatDiagnosis(diagnosis: Diagnosis, options: FormatOptions): string {
  const { paint, columns = Number.POSITIVE_INFINITY } = options
  const { findings, taken } = diagnosis
  const lines = findings.flatMap((finding, index) => linesOf(finding, !taken && index === 0, paint, columns))
  return [
    headOf(diagnosis, options),
    ...(lines.length > 0 ? ['', ...lines] : []),
    '',
    formatFacts(factsOf(diagnosis, options)),
  ].join('\n')
}

function headOf(diagnosis: Diagnosis, { endpoint, paint }: FormatOptions): string {
  const { taken, code, told } = diagnosis
  const head = `/${printable(endpoint)}  ${paint.bold(statusOf(diagnosis))}`
  if (!taken) return `${head}  ${paint.red('refused')}  ${code}  ${printable(told)}`
  return `${head}  ${paint.green(code === 'HANDSHAKE' ? 'handshake' : 'taken')}  ${printable(told)}`
}

/** The status of an accepted request is 200 or 202, depending on what it asks for. */
function statusOf({ taken, code, status }: Diagnosis): string {
  if (status !== undefined) return String(status)
  if (taken) return '2xx'
  if (code === 'METHOD_NOT_ALLOWED') return '405'
  return code === 'KEYS_UNAVAILABLE' ? '503' : '401'
}

function linesOf(
  { code, told, advice }: Finding,
  isReason: boolean,
  paint: Paint,
  columns: number,
): string[] {
  const [first = '', ...others] = wrapWords(`${printable(told)} [${code}]`, columns - indent.length)
  const steps = advice === undefined ? [] : wrapWords(printable(advice), columns - 2 * indent.length)
  return [
    `${isReason ? paint.red('✗') : paint.yellow('!')} ${first}`,
    ...others.map((line) => `${indent}${line}`),
    ...steps.map((line, index) => `${indent}${index === 0 ? paint.cyan('→') : ' '} ${line}`),
  ]
}

function factsOf(
  { provider, scheme, secret, secrets, compared }: Diagnosis,
  { isNowGiven }: FormatOptions,
): Record<string, unknown> {
  const { bodyBytes, bodySha256, now, headers } = compared
  return {
    provider: scheme === undefined || scheme === 'default' ? provider : `${provider}, ${scheme}`,
    secret: secret === undefined ? undefined : `${secret} of ${secrets}`,
    headers: headers.length === 0 ? undefined : headers.join(', '),
    body: `${bodyBytes.toLocaleString('en')} bytes`,
    'SHA-256': bodySha256,
    clock: isNowGiven ? `${now}, by --now` : now,
  }
}
