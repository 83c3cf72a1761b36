/** Makes spans of what the gateway has done, and exports them in batches beside its work. */

import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { ObservedWork, Observer, Period, PluginLog } from '@reveille/kit'
import { describeWork } from './describe.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface OtelConfig {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
}

/** Milliseconds for which one export is tried, and thus for which the gateway's exit may wait. */
const exportTimeoutMs = 3000

export function createOtelObserver(
  { url, headers, serviceName }: OtelConfig,
  log: PluginLog,
): { readonly observer: Observer; readonly close: () => Promise<void> } {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: exportTimeoutMs })
  const ids = createIds()
  const provider = new TracerProvider({
    idGenerator: ids,
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': serviceName })),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: reporting(exporter, log), exportTimeoutMillis: exportTimeoutMs }),
    ],
  })
  const tracer = provider.getTracer('reveille')

  function observe(work: ObservedWork): void {
    const { name, kind, attributes, isFailure, steps, links } = describeWork(work)
    const options = {
      kind,
      attributes,
      startTime: work.startedAt,
      links: links.flatMap((link) => parseTraceParent(link) ?? []).map((context) => ({ context })),
    }
    const span = ids.as(work.traceparent, () => tracer.startSpan(name, options, contextIn(work.parent)))
    if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR, ...(work.code && { message: work.code }) })
    for (const [step, period] of Object.entries(steps))
      if (period !== undefined) addStep(step, period, trace.setSpan(ROOT_CONTEXT, span))
    span.end(work.endedAt)
  }

  function addStep(name: string, { startedAt, endedAt }: Period, context: Context): void {
    tracer.startSpan(name, { startTime: startedAt }, context).end(endedAt)
  }

  return {
    observer: { id: 'otel', observe },
    close: () => provider.shutdown().catch(() => {}),
  }
}

/** The ids of the work that is being made a span of, and random ones for what it consists of. */
function createIds() {
  const random = new RandomIdGenerator()
  let parent: ReturnType<typeof parseTraceParent> = null
  return {
    generateTraceId: () => parent?.traceId ?? random.generateTraceId(),
    generateSpanId: () => parent?.spanId ?? random.generateSpanId(),
    as(traceparent: string, start: () => Span): Span {
      parent = parseTraceParent(traceparent)
      try {
        return start()
      } finally {
        parent = null
      }
    },
  }
}

function contextIn(traceparent = ''): Context {
  const parent = parseTraceParent(traceparent)
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT
}

/** Logs when exports begin to fail, and when they succeed again. */
function reporting(exporter: SpanExporter, log: PluginLog): SpanExporter {
  let isFailing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS
        if (hasFailed && !isFailing) log.warn('spans-not-exported', { reason: result.error?.message })
        if (isFailing && !hasFailed) log.info('spans-exported')
        isFailing = hasFailed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}
