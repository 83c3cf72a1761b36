/** Defines the input and the output of the engine: a hook request, and the decision about it. */

import type { Coalesce } from '../../config/configuration.ts'
import type { DryRun, Stop } from '../../transform/port.ts'

export interface HookRequest {
  /** `wake`, `agent` or the `<name>` of `/hooks/<name>`, percent-decoded, without a trailing slash. */
  readonly endpoint: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed body. It may be a getter that parses at its first use. */
  readonly payload: unknown
  /** True if the payload has not been read from the body yet, because that may take long. Default: false. */
  readonly isUndecoded?: boolean
  /** The sender's address, by which requests share evaluator threads fairly. Absent: the request counts for no sender. */
  readonly sender?: string
  /** The body as received, decoded from gzip and the like. */
  readonly rawBody: Uint8Array
  /** The JSON that was unwrapped from a field of a form. Absent if the whole body was parsed. */
  readonly unwrapped?: string
  /** True if the body is a form, whose fields are the payload, and not JSON. Default: false. */
  readonly isForm?: boolean
  /** For the log. */
  readonly id?: string
  /**
   * Called for each connection that a transform opens for the request. Only tests set it, because it slows the
   * transform down.
   */
  readonly onCall?: (module: string, target: string) => void
  /** Present if the decision has no effect: with `refuse`, network access of transforms is refused. Absent: a request of a sender. */
  readonly dryRun?: DryRun
  /** Called with what a dry run kept a transform from, also where the transform went on. */
  readonly onStop?: (stop: Stop) => void
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

export type WakeMode = 'now' | 'next-heartbeat'

/** An admitted, fully rendered action. It is frozen, so that nothing that happens later changes its meaning. */
export type Action = WakeAction | AgentAction

/** Of the actions with the same scope and key, only the first within the window counts. */
export interface Dedupe {
  /** The key has a limited length. */
  readonly key: string
  readonly windowMs: number
  /** True if the sender chose the key (`Idempotency-Key`). Then another body under it is a conflict. */
  readonly isGiven: boolean
}

export interface WakeAction {
  readonly kind: 'wake'
  /** The rendered text. */
  readonly text: string
  /** The text that the model sees: `text` with the boundary applied. */
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
  /** The rendered message. */
  readonly message: string
  /** The text that the model sees: `message` with the boundary applied. */
  readonly prompt: string
  readonly trusted: boolean
  readonly mapping?: string
  readonly name?: string
  readonly sessionKey: string
  /** True if the sender or the mapping chose the session key. If so, the runs of the session are performed in order. */
  readonly sessionKeyGiven: boolean
  readonly wakeMode: WakeMode
  readonly deliver: boolean
  /** The name of a configured channel, or `last`. With `deliverTo` it is the first target's channel. */
  readonly channel: string
  readonly to?: string
  /** The targets of the reply, each once, in place of `channel` and `to`. */
  readonly deliverTo?: readonly { readonly channel: string; readonly to?: string }[]
  readonly runner: string
  readonly model?: string
  readonly thinking?: string
  readonly timeoutSeconds: number
  /** Behaviour if the session is busy. Absent: the run waits in its lane. */
  readonly busy?: 'reject'
  /** The key is rendered. Its scope is the mapping and the session key, if one was given. */
  readonly coalesce?: Coalesce
  readonly dedupe?: Dedupe
  /** The name of the policy that limits the concurrent runs. */
  readonly pool?: string
  /** The name of the policy that limits the daily cost. */
  readonly budget?: string
}

export interface FieldError {
  /** A JSON Pointer into the body, or into the mapping's fields for a rendered field. */
  readonly pointer: string
  readonly message: string
}

/** A transform's reply in place of the gateway's own answer, once the request is stored. */
export interface Reply {
  readonly contentType: string
  readonly body: string
}

/** The reason why the engine refused a request. `code` is one of the stable codes of the HTTP contract. */
export interface Refusal {
  readonly outcome: 'refused' | 'failed'
  /**
   * A code of the `BAD_REQUEST` family (400) or the `TRANSFORM_FAILED` family (500). runtime/http maps codes to
   * statuses.
   */
  readonly code: string
  /** The HTTP status that a transform chose. Absent: the status of the code. */
  readonly status?: number
  /** A sentence that never quotes the body. */
  readonly message: string
  readonly details: readonly FieldError[]
  readonly mapping?: string
  /** The message with its cause, for the log, the API and the console. Default: the message. */
  readonly reason?: string
  /** The underlying error, for the log only. */
  readonly cause?: unknown
}

/** The engine's answer to one request. */
export type Decision =
  | {
      readonly outcome: 'accepted'
      readonly actions: readonly Action[]
      readonly mapping?: string
      /** The fields of a body of `/wake` or `/agent` that have no effect, for its sender. Absent: none. */
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
