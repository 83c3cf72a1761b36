/** Names spans and their attributes, by the semantic conventions of OpenTelemetry where they have a word. */

import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { ObservedDelivery, ObservedRequest, ObservedTurn, ObservedWork, Period } from '@reveille/kit'

interface Description {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  readonly isFailure: boolean
  /** The spans inside, by their names. */
  readonly steps: Readonly<Record<string, Period | undefined>>
  readonly links: readonly string[]
}

export function describeWork(work: ObservedWork): Description {
  const description = { steps: {}, links: [], ...specificsOf(work) }
  const { code, id } = work
  const error = description.isFailure && { 'error.type': code ?? '_OTHER' }
  const common = { 'reveille.id': id, ...(code && { 'reveille.code': code }), ...error }
  return { ...description, attributes: { ...common, ...description.attributes } }
}

function specificsOf(work: ObservedWork) {
  if (work.kind === 'request') return ofRequest(work)
  return work.kind === 'delivery' ? ofDelivery(work) : ofTurn(work)
}

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/ */
function ofRequest({ method, route, mapping, client, outcome, status, decision, commit }: ObservedRequest) {
  return {
    name: [method ?? 'replay', route].filter(Boolean).join(' '),
    kind: method === undefined ? SpanKind.INTERNAL : SpanKind.SERVER,
    isFailure: status >= 500,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.path': route,
      'http.response.status_code': status,
      'client.address': client,
      'reveille.outcome': outcome,
      'reveille.mapping': mapping,
    },
    steps: { decision, commit },
  }
}

/** https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/ */
function ofTurn({ kind, runner, state, mapping, attempts, usage, links }: ObservedTurn) {
  return {
    name: `${kind} ${runner}`,
    kind: SpanKind.INTERNAL,
    isFailure: state !== 'succeeded',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': runner,
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'reveille.state': state,
      'reveille.mapping': mapping,
      'reveille.attempts': attempts,
    },
    links,
  }
}

function ofDelivery({ channel, state, attempts, parts }: ObservedDelivery) {
  return {
    name: `delivery ${channel}`,
    kind: SpanKind.CLIENT,
    isFailure: state === 'parked',
    attributes: {
      'reveille.channel': channel,
      'reveille.state': state,
      'reveille.attempts': attempts,
      'reveille.parts': parts,
    },
  }
}
