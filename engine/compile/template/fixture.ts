/** Renders a template without a mapping around it; used by tests only. */

import { plainText, type Segment } from '../../boundary/segment.ts'
import type { HookRequest } from '../../resolve/model/decision.ts'
import { createMeter, createOutput } from '../../resolve/model/output.ts'
import { createScope } from '../../resolve/model/scope.ts'
import { type CompiledTemplate, compileTemplate } from './compile-template.ts'

export function segmentsOf(source: string, payload: unknown, limit = 1_000_000): Segment[] {
  const { render } = compiledOnce(source)
  const scope = createScope(requestOf(payload))
  const output = createOutput(createMeter(limit, scope.containment))
  render(scope, output)
  return output.segments
}

const compiled = new Map<string, CompiledTemplate>()

function compiledOnce(source: string): CompiledTemplate {
  const template = compiled.get(source) ?? compileTemplate(source)
  compiled.set(source, template)
  return template
}

export function rendered(source: string, payload: unknown = {}): string {
  return plainText(segmentsOf(source, payload))
}

function requestOf(payload: unknown): HookRequest {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const headers = { 'x-id': '7', 'x-list': ['a', 'b'] }
  const now = Date.UTC(2026, 0, 2, 3, 4, 5)
  return { endpoint: 'test', headers, query: {}, payload: JSON.parse(body), rawBody: Buffer.from(body), now }
}
