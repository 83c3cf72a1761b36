/** Records the help of every command, and each route of the API with and without a token. */

import { type Call, type Fact, type Recorder, runCommand } from './recorder.ts'
import { type Json, shapeOf } from './steady.ts'

/** Yields the help of every command that the help of another one lists. */
export async function* recordHelp(recorder: Recorder): AsyncGenerator<Fact> {
  const waiting: string[][] = [[]]
  for (let command = waiting.shift(); command !== undefined; command = waiting.shift()) {
    const key = `help ${command.join(' ')}`.trim()
    if (!recorder.wants(key)) continue
    const { out } = await runCommand(recorder, [...command, '--help'])
    if (!out.startsWith(['Usage: reveille', ...command].join(' '))) continue
    yield { key, value: out }
    const [, list = ''] = out.split('\nCommands:\n')
    for (const [, name = ''] of list.matchAll(/^ {2}([a-z]\S*)/gm)) waiting.push([...command, name])
  }
}

/** Yields what each route answers to a outsider, and to an operator who names a record that is not there. */
export async function* recordRoutes(call: Call): AsyncGenerator<Fact> {
  const openapi = (await call('GET', '/api/openapi.json')).body as { paths: Record<string, Json> }
  for (const [path, methods] of Object.entries(openapi.paths)) {
    for (const method of Object.keys(methods).map((each) => each.toUpperCase())) {
      if (/stream$|openapi\.json$/.test(path)) continue
      const target = path.replace(/\{\w+\}/g, 'unknown')
      const outsider = await call(method, target, { token: '' })
      const operator = await call(method, target)
      const { code, error } = operator.body as Json
      yield {
        key: `route ${method} ${path}`,
        value: {
          outsider: outsider.status,
          operator: operator.status,
          code,
          error,
          shape: shapeOf(operator.body),
        },
      }
    }
  }
}
