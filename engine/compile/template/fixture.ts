/** Owns rendering a template in tests, without a mapping around it; used by tests only. */

import { plainText, type Segment } from '../../boundary/segment.ts'
import { createMeter, createOutput, InexactNumberError } from '../../resolve/output.ts'
import { createScope, type Scope, withExactNumbers } from '../../resolve/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileTemplate } from './compile-template.ts'

/** Of what is rendered at once. */
export function segmentsOf(source: string, payload: unknown, limit?: number): Segment[] {
  const { segments, wait } = start(source, payload, limit)
  if (wait !== undefined) throw new Error('the template has to wait')
  return segments
}

/** Of what may have to wait for a turn. */
export async function segmentsInTurns(source: string, payload: unknown, limit?: number): Promise<Segment[]> {
  const { segments, wait } = start(source, payload, limit)
  await wait
  return segments
}

function start(source: string, payload: unknown, limit = 1_000_000) {
  const { render } = compileTemplate(source)
  const scope = createScope(requestOf(payload, { headers: { 'x-id': '7', 'x-list': ['a', 'b'] } }))
  try {
    const output = createOutput(createMeter(limit), { exact: false, strict: false })
    return { segments: output.segments, wait: render(scope, output) }
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error
    const output = createOutput(createMeter(limit), { exact: true, strict: false })
    return { segments: output.segments, wait: render(withExactNumbers(scope) as Scope, output) }
  }
}

export function rendered(source: string, payload: unknown = {}): string {
  return plainText(segmentsOf(source, payload))
}
