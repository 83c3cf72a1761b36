/** Reads the mappings that hostile bodies are sent to: every kind of key, each at its own endpoint. */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

type Mapping = Readonly<Record<string, unknown>>
type ByEndpoint<Value> = Readonly<Record<string, Value>>

const { body, when, messages, mappings } = parse(
  readFileSync(new URL('mappings.yaml', import.meta.url), 'utf8'),
) as {
  readonly body: ByEndpoint<readonly unknown[]>
  readonly when: ByEndpoint<readonly string[]>
  readonly messages: ByEndpoint<string>
  readonly mappings: ByEndpoint<readonly Mapping[]>
}
const agent = { action: 'agent', deliver: false, wakeMode: 'next-heartbeat' }
const wake = { action: 'wake', mode: 'next-heartbeat' }

/** Maps an endpoint to its mappings, in order. */
const hostileMappings: ByEndpoint<readonly Mapping[]> = Object.fromEntries<readonly Mapping[]>([
  ...Object.entries({ body, when }).flatMap(([clause, asked]) =>
    Object.entries(asked).map(([path, all]): [string, readonly Mapping[]] => [
      path,
      [
        ...all.map((condition) => ({ ...wake, match: { [clause]: condition }, text: 'never meant' })),
        { ...wake, text: 'none of them held' },
      ],
    ]),
  ),
  ...Object.entries(messages).map(([path, message]): [string, readonly Mapping[]] => [
    path,
    [{ ...agent, message: `Look: ${message}` }],
  ]),
  ...Object.entries(mappings).map(([path, all]): [string, readonly Mapping[]] => [
    path,
    all.map((own) => ('action' in own ? own : { ...agent, ...own })),
  ]),
])

export const endpoints = Object.keys(hostileMappings)

/** Writes one mapping file as JSON. */
export function mappingFile(): string {
  const all = Object.entries(hostileMappings).flatMap(([path, own]) =>
    own.map(({ match, ...rest }) => ({ match: { path, ...(match as object | undefined) }, ...rest })),
  )
  return JSON.stringify({ mappings: all })
}
