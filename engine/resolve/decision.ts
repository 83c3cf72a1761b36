/** What goes into the engine and what comes out: a hook request, and the decision about it. */

import type { Coalesce } from '../config/configuration.ts'

export interface HookRequest {
  /** `wake`, `agent` or the `<name>` of `/hooks/<name>`, percent-decoded, without a trailing slash. */
  readonly endpoint: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed body. */
  readonly payload: unknown
  /** The payload is yet to be read from the body, because that may take long. Default: false. */
  readonly isUndecoded?: boolean
  /** By whom requests share evaluator threads fairly: the sender's address. Absent: it counts for none. */
  readonly sender?: string
  /** The body as received, decoded from gzip and the like. */
  readonly rawBody: Uint8Array
  /** The JSON that was unwrapped from a field of a form; absent where the whole body was parsed. */
  readonly unwrapped?: string
  /** The body is a form and no JSON; the payload holds its fields. Default: false. */
  readonly isForm?: boolean
  /** For the log. */
  readonly id?: string
  /** Hears of each connection that a transform opens for it. Only tests ask: it slows the transform down. */
  readonly onCall?: (module: string, target: string) => void
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

export type WakeMode = 'now' | 'next-heartbeat'

/** An admitted, fully rendered action. Frozen: nothing that happens later changes what it means. */
export type Action = WakeAction | AgentAction

/** Of the actions of one scope and key, only the first counts for so long. */
export interface Dedupe {
  /** Bounded in length. */
  readonly key: string
  readonly windowMs: number
  /** The sender chose the key (`Idempotency-Key`): another body under it is a conflict. */
  readonly isGiven: boolean
}

export interface WakeAction {
  readonly kind: 'wake'
  /** As rendered. */
  readonly text: string
  /** As the model will see it: `text` with the boundary applied. */
  readonly prompt: string
  readonly mode: WakeMode
  /** True when the mapping has `allowUnsafeExternalContent`. */
  readonly trusted: boolean
  /** The id of the mapping that made it; absent for `/wake`. */
  readonly mapping?: string
  readonly dedupe?: Dedupe
}

export interface AgentAction {
  readonly kind: 'agent'
  /** As rendered. */
  readonly message: string
  /** As the model will see it: `message` with the boundary applied. */
  readonly prompt: string
  readonly trusted: boolean
  readonly mapping?: string
  readonly name?: string
  readonly sessionKey: string
  /** Whether the sender or the mapping chose the session key; if so, its runs go in order. */
  readonly sessionKeyGiven: boolean
  readonly wakeMode: WakeMode
  readonly deliver: boolean
  /** A configured channel's name, or `last`; with `deliverTo`, that of its first. */
  readonly channel: string
  readonly to?: string
  /** Where the reply goes instead, each once. */
  readonly deliverTo?: readonly { readonly channel: string; readonly to?: string }[]
  readonly runner: string
  readonly model?: string
  readonly thinking?: string
  readonly timeoutSeconds: number
  /** What becomes of it while its session is busy. Absent: it waits its turn. */
  readonly busy?: 'reject'
  /** Its `key` is rendered. Scope it by `mapping` and, where one was given, by the session key. */
  readonly coalesce?: Coalesce
  readonly dedupe?: Dedupe
  /** The name of the policy that limits how many of its runs there are at one time. */
  readonly pool?: string
  /** The name of the policy that limits what its runs may cost. */
  readonly budget?: string
}

export interface FieldError {
  /** JSON Pointer into the body, or into the mapping's fields for a rendered one. */
  readonly pointer: string
  readonly message: string
}

/** What a transform wants the sender to read in place of the gateway's own answer, once the request is kept. */
export interface Reply {
  readonly contentType: string
  readonly body: string
}

/** Why a request was refused by the engine. `code` is one of the HTTP contract's stable codes. */
export interface Refusal {
  readonly outcome: 'refused' | 'failed'
  /** `BAD_REQUEST` family (400) or `TRANSFORM_FAILED` family (500); runtime/http owns the statuses. */
  readonly code: string
  /** The HTTP status that a transform chose for it; absent: that of the code. */
  readonly status?: number
  /** A sentence; never quotes the body. */
  readonly message: string
  readonly details: readonly FieldError[]
  readonly mapping?: string
  /** The message with its cause, for the log, the API and the console. Default: the message. */
  readonly reason?: string
  /** What lies beneath, for the log only. */
  readonly cause?: unknown
}

/** What the engine answers for one request. */
export type Decision =
  | {
      readonly outcome: 'accepted'
      readonly actions: readonly Action[]
      readonly mapping?: string
      /** What of the body of `/wake` or `/agent` has no effect, for its sender. Absent: nothing. */
      readonly warnings?: readonly FieldError[]
      readonly reply?: Reply
    }
  | { readonly outcome: 'ignored'; readonly reason: string }
  | {
      readonly outcome: 'skipped'
      readonly reason: string
      readonly mapping: string
      readonly reply?: Reply
    }
  | Refusal
