/** Writes what was tried as a test that can be put into a mapping file. */

import type { ActionTrace, Decision } from '../../data/types.ts'
import { layOut } from '../../parts/json-layout.ts'
import { type Draft, parseHeaders, parseQuery } from './draft.ts'

/** Their values prove who sends, and a test needs no proof. */
const proving = /authorization|cookie|signature|hmac|token|secret|api-?key|password/i

/** JSON is YAML, so that numbers and texts stay as they were written. */
export function composeTest(draft: Draft, decision: Decision, actions: readonly ActionTrace[] = []): string {
  const { endpoint } = draft
  const headers = Object.entries(parseHeaders(draft.headers)).filter(([name]) => !proving.test(name))
  const query = Object.entries(parseQuery(draft.query)).filter(([name]) => !proving.test(name))
  const body = layOut(draft.payload)
  const lines = [
    'tests:',
    `  - name: ${JSON.stringify(nameOf(endpoint, decision))}`,
    '    request:',
    `      endpoint: ${JSON.stringify(endpoint)}`,
    ...(headers.length > 0 ? [`      headers: ${flow(headers)}`] : []),
    ...(query.length > 0 ? [`      query: ${flow(query)}`] : []),
    ...(body === undefined
      ? [
          '      # The payload is no JSON: save its bytes as a file beside this one.',
          '      bodyFile: payload.txt',
        ]
      : [`      body: ${body.replaceAll('\n', '\n        ')}`]),
    `    expect: ${flow(expectationOf(decision, actions))}`,
  ]
  return `${lines.join('\n')}\n`
}

function nameOf(endpoint: string, { outcome, mapping }: Decision): string {
  return outcome === 'accepted' && mapping !== undefined
    ? `a request to ${endpoint} reaches ${mapping}`
    : `a request to ${endpoint} is ${outcome === 'failed' ? 'refused' : outcome}`
}

type Entry = readonly [name: string, value: unknown]

function expectationOf({ outcome, mapping, code }: Decision, actions: readonly ActionTrace[]): Entry[] {
  // A failure is a refusal with a code to a test.
  if (outcome !== 'accepted') return code === undefined ? [['outcome', outcome]] : [['code', code]]
  const [first] = actions
  if (actions.length > 1) return [['actions', actions.map((action) => ({ mapping: action.mapping }))]]
  const matched = mapping ?? first?.mapping
  const key = first?.fields.find(({ field, from }) => field === 'sessionKey' && from !== 'default')
  return [
    ...(matched === undefined ? [] : [['mapping', matched] as const]),
    ...(key === undefined || key.value.includes('…') ? [] : [['sessionKey', key.value] as const]),
  ]
}

function flow(entries: readonly Entry[]): string {
  return `{ ${entries.map(([name, value]) => `${key(name)}: ${JSON.stringify(value)}`).join(', ')} }`
}

const key = (name: string) => (/^[a-z][\w-]*$/i.test(name) ? name : JSON.stringify(name))
