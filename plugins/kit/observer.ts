/** Defines the contract of observers, which hear of what the gateway has done, as a tracing backend does. */

/** A configured observer. */
export interface Observer {
  /** The name of the observer in its manifest, such as `otel`. */
  readonly id: string
  /** Called once a piece of work has ended, on the main thread, so it must return at once. Its errors are dropped. */
  observe(work: ObservedWork): void
}

export type ObservedWork = ObservedRequest | ObservedTurn | ObservedDelivery

/** Milliseconds since the Unix epoch. */
export interface Period {
  readonly startedAt: number
  readonly endedAt: number
}

/** Work never holds a payload, a prompt, a reply, a header or the address of a recipient. */
interface Observed extends Period {
  readonly id: string
  /** The context of the work, as W3C Trace Context writes it. It is derived from ids, so that all nodes give the same work the same one. */
  readonly traceparent: string
  /** The context of its cause: the sender of a request, the request of a run, the run of a delivery. Absent: it has a trace of its own. */
  readonly parent?: string
  /** The stable code of what went wrong. */
  readonly code?: string
}

/** A request to the hook surface, once its reply was sent. */
export interface ObservedRequest extends Observed {
  readonly kind: 'request'
  /** Absent for one that no client made: a replay, or the post of a source. */
  readonly method?: string
  /** The path of a known endpoint, such as `/hooks/github`. */
  readonly route?: string
  readonly mapping?: string
  readonly client: string
  readonly outcome: 'accepted' | 'ignored' | 'skipped' | 'duplicate' | 'handshake' | 'failed' | 'refused'
  readonly status: number
  /** Absent where the request ended before the engine had decided. */
  readonly decision?: Period
  /** Absent where nothing was accepted. */
  readonly commit?: Period
}

/** A turn of an agent that is over, from its first attempt on. */
export interface ObservedTurn extends Observed {
  readonly kind: 'run' | 'heartbeat'
  readonly runner: string
  readonly state: 'succeeded' | 'failed' | 'timed-out' | 'cancelled' | 'interrupted'
  readonly mapping?: string
  readonly attempts: number
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number }
  /** The contexts of the other requests that a heartbeat has shown. */
  readonly links: readonly string[]
}

/** A delivery that has ended, from the commit of its reply on. */
export interface ObservedDelivery extends Observed {
  readonly kind: 'delivery'
  readonly channel: string
  readonly state: 'delivered' | 'skipped' | 'parked'
  readonly attempts: number
  /** Number of messages that the service accepted. */
  readonly parts: number
}
