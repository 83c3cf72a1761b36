/** Owns how a diagnosis reads: how it would end, what was found with what to do, and what was looked at. */

import type { Diagnosis, Finding } from '@reveille/engine'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { wrapWords } from '../../../observe/wrap-words.ts'
import { formatFacts } from '../../facts.ts'
import type { Diagnosed } from './signature.ts'

export interface Setting {
  readonly endpoint: string
  readonly paint: Paint
  /** Of the terminal; absent: nothing is broken. */
  readonly columns: number | undefined
}

const indent = ' '.repeat(2)

/** Ends with a line break. */
export function formatDiagnosis({ label, diagnosis, clock }: Diagnosed, setting: Setting): string {
  const { paint, columns = Number.POSITIVE_INFINITY } = setting
  const { findings, taken } = diagnosis
  const title = label === undefined ? [] : [paint.bold(printable(label).slice(0, columns))]
  const found = findings.flatMap((finding, index) => linesOf(finding, !taken && index === 0, paint, columns))
  return [
    ...title,
    headOf(diagnosis, setting),
    ...(found.length > 0 ? ['', ...found] : []),
    '',
    formatFacts(factsOf(diagnosis, clock)),
  ].join('\n')
}

function headOf(diagnosis: Diagnosis, { endpoint, paint }: Setting): string {
  const { taken, code, told } = diagnosis
  const head = `/${printable(endpoint)}  ${paint.bold(statusOf(diagnosis))}`
  if (!taken) return `${head}  ${paint.red('refused')}  ${code}  ${printable(told)}`
  return `${head}  ${paint.green(code === 'HANDSHAKE' ? 'handshake' : 'taken')}  ${printable(told)}`
}

/** Of one that is taken, what it asks for decides between 200 and 202. */
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
  clock: string,
): Record<string, unknown> {
  const { bodyBytes, bodySha256, now, headers } = compared
  return {
    provider: scheme === undefined || scheme === 'default' ? provider : `${provider}, ${scheme}`,
    secret: secret === undefined ? undefined : `${secret} of ${secrets}`,
    headers: headers.length === 0 ? undefined : headers.join(', '),
    body: `${bodyBytes.toLocaleString('en')} bytes`,
    'SHA-256': bodySha256,
    clock: clock === 'now' ? now : `${now}, by ${clock}`,
  }
}
