/** Owns rendering a template in tests, without a mapping around it; used by tests only. */

import { plainText, type Segment } from '../../boundary/segment.ts'
import { createMeter, createOutput, InexactNumberError } from '../../resolve/output.ts'
import { createScope, type Scope, withExactNumbers } from '../../resolve/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileTemplate } from './compile-template.ts'

export function segmentsOf(source: string, payload: unknown, limit = 1_000_000): Segment[] {
  const { render } = compileTemplate(source)
  const scope = createScope(requestOf(payload, { headers: { 'x-id': '7', 'x-list': ['a', 'b'] } }))
  try {
    const output = createOutput(createMeter(limit), { exact: false, strict: false })
    render(scope, output)
    return output.segments
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error
    const output = createOutput(createMeter(limit), { exact: true, strict: false })
    render(withExactNumbers(scope) as Scope, output)
    return output.segments
  }
}

export function rendered(source: string, payload: unknown = {}): string {
  return plainText(segmentsOf(source, payload))
}
